"""The event-time picture: arrival across, event time up, the watermark as a staircase, late events below the stairs."""

from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from streamproof.report import words
from streamproof.report.shape import EventTime, PointEntry, Report, WindowEntry
from streamproof.report.svg import themed

WIDTH, HEIGHT = 1040, 300
_MOST_BANDS = 40
# Colours that occur nowhere else; `themed` turns them into the page's CSS variables, so that one SVG serves light and dark.
_COLOURS = {
    "#a10001": "var(--emitted)",
    "#a10002": "var(--open)",
    "#a10003": "var(--late)",
    "#a10004": "var(--rejected)",
    "#a10005": "var(--duplicate)",
    "#a10006": "var(--filtered)",
    "#a10007": "var(--stairs)",
    "#a10008": "var(--band)",
    "#a10009": "var(--line)",
    "#a1000a": "var(--muted)",
    "#a1000b": "var(--fail)",
    "#a1000c": "var(--text)",
    "#a1000d": "var(--page)",
}
_MARKS: dict[str, tuple[str, str, int, float]] = {  # shape, colour, area in square pixels, opacity; drawn in this order
    "emitted": ("circle", "#a10001", 9, 0.6),
    "open_state": ("circle", "#a10002", 9, 0.9),
    "filtered": ("square", "#a10006", 12, 0.9),
    "duplicate": ("diamond", "#a10005", 18, 0.9),
    "rejected": ("cross", "#a10004", 22, 0.9),
    "late": ("triangle-down", "#a10003", 34, 0.95),
}
_NAMED = ("late", "rejected", "duplicate", "filtered")


@dataclass(frozen=True)
class Picture:
    """The picture or the reason there is none, and the same facts as a table: a row for each batch."""

    svg: str
    fates: tuple[tuple[str, int], ...]
    outside: int
    windows_in_a_band: int
    rows: tuple["BatchRow", ...]
    missing_extra: bool


@dataclass(frozen=True)
class BatchRow:
    """One batch in the table: first arrival, watermark, and how many of the points shown ended where."""

    batch: int
    first_arrival: int
    watermark: str
    fates: tuple[int, ...]


def installed() -> bool:
    """True if the libraries of the extra `report` are there."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def draw(report: Report, marked: list[str]) -> Picture:
    """The picture of a report; the events in `marked` (trace ids of findings) are ringed and named.

    Without altair and vl-convert, and without any point, `svg` is empty.
    """
    facts = report["event_time"]
    drawable = bool(facts["points"]) and installed()
    low, high = _domain(facts)
    inside = [point for point in facts["points"] if low <= point["time_us"] <= high]
    together = _windows_in_a_band(facts["windows"])
    return Picture(
        svg=_svg(facts, inside, (low, high), together, marked, _description(facts, words.noun(report))) if drawable else "",
        fates=tuple((fate, count) for fate, count in _fates(facts) if count),
        outside=len(facts["points"]) - len(inside),
        windows_in_a_band=together,
        rows=tuple(_rows(facts)),
        missing_extra=not installed(),
    )


def _fates(facts: EventTime) -> list[tuple[str, int]]:
    counts = Counter(point["fate"] for point in facts["points"])
    return [(fate, counts[fate]) for fate in ("emitted", "open_state", "late", "rejected", "duplicate", "filtered")]


def _rows(facts: EventTime) -> list[BatchRow]:
    marks = {mark["batch"]: mark["time_us"] for mark in facts["watermark"]}
    by_batch = Counter((point["batch"], point["fate"]) for point in facts["points"])
    return [
        BatchRow(
            batch=start["batch"],
            first_arrival=start["first_arrival"],
            watermark=words.instant(marks[start["batch"]]) if marks.get(start["batch"]) else "none yet",
            fates=tuple(count for (batch, _), count in _in_order(by_batch, start["batch"])),
        )
        for start in facts["batches"]
    ]


def _in_order(by_batch: Counter[tuple[int, Any]], batch: int) -> list[tuple[tuple[int, str], int]]:
    return [((batch, fate), by_batch[batch, fate]) for fate in words.PLACES]


def _domain(facts: EventTime) -> tuple[int, int]:
    """Event times to show: all of the events that were taken, and late ones up to one such span below.

    A single timestamp of 1970 or 2099 among the rejected would flatten everything else to a line.
    """
    taken = [point["time_us"] for point in facts["points"] if point["fate"] in ("emitted", "open_state", "duplicate", "filtered")]
    taken = taken or [point["time_us"] for point in facts["points"]] or [0]
    low, high = min(taken), max(taken)
    room = max(high - low, 1_000_000)
    late = [point["time_us"] for point in facts["points"] if point["fate"] == "late" and low - room <= point["time_us"]]
    low = min([low, *late])
    margin = max(high - low, 1_000_000) // 25
    return low - margin, high + margin


def _windows_in_a_band(windows: list[WindowEntry]) -> int:
    return max(1, -(-len(windows) // _MOST_BANDS))


def _description(facts: EventTime, noun: str) -> str:
    fates = ", ".join(f"{count} {words.PLACES[fate]}" for fate, count in _fates(facts) if count)
    return f"{len(facts['points'])} {noun}s by arrival (across) and event time (up): {fates}. The watermark rises as a staircase."


def _svg(
    facts: EventTime, inside: list[PointEntry], domain: tuple[int, int], together: int, marked: list[str], description: str
) -> str:
    import altair as alt
    import vl_convert

    last = max(point["arrival"] for point in facts["points"]) + 1
    across = alt.X("x:Q", title="arrival", scale=alt.Scale(domain=[0, last], nice=False), axis=alt.Axis(grid=False, format=",d", tickCount=8))
    up = alt.Y(
        "y:T",
        title="event time, UTC",
        scale=alt.Scale(type="utc", domain=[_millis(domain[0]), _millis(domain[1])], nice=False),
        axis=alt.Axis(grid=False, format="%H:%M" if domain[1] - domain[0] > 600_000_000 else "%H:%M:%S", tickCount=6),
    )
    layers: list[Any] = [_bands(alt, facts["windows"], domain, together, last, up), *_batches(alt, facts, domain, across, up)]
    layers += [_points(alt, [point for point in inside if point["fate"] == fate], fate, across, up) for fate in _MARKS]
    layers.append(_stairs(alt, facts, domain, last, across, up))
    layers += _named(alt, [point for point in inside if point["event"] in {name.split("+")[0] for name in marked}], across, up)
    chart = (
        alt.layer(*(layer for layer in layers if layer is not None))
        .properties(width=WIDTH, height=HEIGHT, background="transparent", padding=2)
        .configure(font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor="#a1000a",
            titleColor="#a1000a",
            domainColor="#a10009",
            tickColor="#a10009",
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            titlePadding=8,
        )
    )
    return themed(vl_convert.vegalite_to_svg(chart.to_dict()), _COLOURS, title="Event time against arrival", description=description)


def _millis(micros: int) -> float:
    return micros / 1000


def _bands(alt: Any, windows: list[WindowEntry], domain: tuple[int, int], together: int, last: int, up: Any) -> Any:
    """Every second window (or group of windows) as a band across the picture."""
    ordered = sorted(windows, key=lambda window: window["start_us"])
    groups = [ordered[index : index + together] for index in range(0, len(ordered), together)]
    spans = [(max(group[0]["start_us"], domain[0]), min(group[-1]["end_us"], domain[1])) for group in groups[::2]]
    values = [{"x": 0, "x2": last, "y": _millis(low), "y2": _millis(high)} for low, high in spans if low < high]
    if not values:
        return None
    return (
        alt.Chart(alt.Data(values=values)).mark_rect(color="#a10008", aria=False).encode(x=alt.X("x:Q"), x2="x2:Q", y=up, y2="y2:T")
    )


def _batches(alt: Any, facts: EventTime, domain: tuple[int, int], across: Any, up: Any) -> list[Any]:
    values = [
        {"x": start["first_arrival"], "y": _millis(domain[1]), "batch": f"batch {start['batch']}" if index == 0 else str(start["batch"])}
        for index, start in enumerate(facts["batches"])
    ]
    base = alt.Chart(alt.Data(values=values))
    rules = base.mark_rule(color="#a10009", aria=False).encode(x=across)
    names = base.mark_text(align="left", baseline="top", dx=4, dy=1, fontSize=10, color="#a1000a", aria=False)
    return [rules, names.encode(x=across, y=up, text="batch:N")]


def _points(alt: Any, points: list[PointEntry], fate: str, across: Any, up: Any) -> Any:
    if not points:
        return None
    shape, colour, size, opacity = _MARKS[fate]
    named = fate in _NAMED
    values = [{"x": point["arrival"], "y": _millis(point["time_us"]), "d": _named_point(point)} if named else _bare(point) for point in points]
    mark = alt.Chart(alt.Data(values=values)).mark_point(
        shape=shape, filled=True, stroke=None, color=colour, size=size, fillOpacity=opacity, opacity=1, aria=named
    )
    return mark.encode(x=across, y=up, description="d:N") if named else mark.encode(x=across, y=up)


def _bare(point: PointEntry) -> dict[str, Any]:
    return {"x": point["arrival"], "y": _millis(point["time_us"])}


def _named_point(point: PointEntry) -> str:
    return f"{words.printable(point['event'])}: {words.PLACES[point['fate']]}, {words.instant(point['time_us'])}, batch {point['batch']}"


def _stairs(alt: Any, facts: EventTime, domain: tuple[int, int], last: int, across: Any, up: Any) -> Any:
    marks = sorted((mark for mark in facts["watermark"] if mark["time_us"] > 0), key=lambda mark: mark["arrival"])
    if not marks:
        return None
    steps = [(mark["arrival"], mark["time_us"]) for mark in marks] + [(last, marks[-1]["time_us"])]
    values = [{"x": arrival, "y": _millis(min(max(time, domain[0]), domain[1]))} for arrival, time in steps]
    line = alt.Chart(alt.Data(values=values)).mark_line(
        interpolate="step-after", orient="vertical", color="#a10007", strokeWidth=1.75, aria=False
    )
    return line.encode(x=across, y=up)


def _named(alt: Any, points: list[PointEntry], across: Any, up: Any) -> list[Any]:
    """Rings around the events that findings name, with their ids; three are legible, more are not."""
    values = [{**_bare(point), "name": words.printable(point["event"])} for point in points[:3]]
    if not values:
        return []
    base = alt.Chart(alt.Data(values=values)).encode(x=across, y=up)
    ring = base.mark_point(shape="circle", filled=False, color="#a1000b", size=160, strokeWidth=2, opacity=1, aria=False)
    place = {"align": "right", "dx": -12, "dy": -10, "fontSize": 12, "fontWeight": "bold", "aria": False}
    halo = base.mark_text(color="#a1000d", stroke="#a1000d", strokeWidth=4, **place).encode(text="name:N")
    return [ring, halo, base.mark_text(color="#a1000c", **place).encode(text="name:N")]
