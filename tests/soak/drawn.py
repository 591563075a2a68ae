"""A page with the curves of a soak."""

from collections.abc import Sequence
from pathlib import Path

import altair as alt
import vl_convert

from soak.growth import Growth
from soak.running import Soaked

COLUMNS, WIDTH, HEIGHT = 3, 300, 120


def page(found: Soaked, grown: Sequence[Growth]) -> str:
    """HTML with one small picture for each figure; what must not grow stands above."""
    too_much = [f"<li><b>{each}</b></li>" for each in grown if each.too_much]
    said = "<p>Nothing has grown beyond its limit.</p>" if not too_much else f"<ul>{''.join(too_much)}</ul>"
    starts = ", ".join(f"{seconds:.1f} s after {batch:,} batches" for batch, seconds in found.starts.items())
    rows = "".join(
        f"<tr><td>{each.name}<td>{each.early:,.0f}<td>{each.late:,.0f}<td>{each.why or f'{each.most:,.0f}'}</tr>"
        for each in sorted(grown, key=str)
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>Soak: {found.kind}</title>"
        "<style>body{font:14px system-ui;margin:2em auto;max-width:70em}td,th{padding:.2em .8em;text-align:right}td:first-child{text-align:left}</style>"
        f"<h1>{found.kind}, {found.batches:,} batches</h1>{said}<p>From the start of a process to its first batch: {starts}.</p>"
        f"{_curves(found)}<table><tr><th>figure<th>early<th>late<th>at most, or why it may grow</tr>{rows}</table>"
    )


def write(found: Soaked, grown: Sequence[Growth], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{found.kind}.html"
    place.write_text(page(found, grown))
    return place


def _curves(found: Soaked) -> str:
    points = [
        {"batch": sample.batch, "figure": name, "value": value}
        for sample in found.samples
        for name, value in sorted(sample.series().items())
        if not name.startswith("bytes")
    ]
    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_line()
        .encode(x=alt.X("batch:Q", title=None), y=alt.Y("value:Q", title=None))
        .properties(width=WIDTH, height=HEIGHT)
        .facet(facet=alt.Facet("figure:N", title=None), columns=COLUMNS)
        .resolve_scale(y="independent")
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))
