"""What every picture is drawn with: plain SVG, without a library, on white, so that it reads on a dark page too."""

from collections.abc import Sequence
from html import escape

INK, SOFT, LINE, EARLY, LATE, BAND = "#1f2933", "#616e7c", "#cbd2d9", "#2b6cb0", "#c53030", "#e8f1fa"


def text(x: float, y: float, said: str, *, colour: str = INK, size: int = 13, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}">'
        f"{escape(said)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, *, colour: str = LINE, width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def box(x: float, y: float, width: float, height: float, *, fill: str = BAND, stroke: str = "none") -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{fill}" stroke="{stroke}"/>'


def dot(x: float, y: float, *, late: bool) -> str:
    """A filled circle; a late event is a cross, so that colour does not carry the meaning alone."""
    if not late:
        return f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{EARLY}"/>'
    arm = 5
    return line(x - arm, y - arm, x + arm, y + arm, colour=LATE, width=3) + line(
        x - arm, y + arm, x + arm, y - arm, colour=LATE, width=3
    )


def page(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A whole SVG file with a title for those who do not see it."""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" '
        f'font-family="system-ui, sans-serif">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )
