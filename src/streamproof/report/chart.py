"""The event-time picture drawn by altair and vl-convert (the extra `report`); imported only where both are installed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import vl_convert

from streamproof.core.account import PLACES
from streamproof.report import words
from streamproof.report.shape import EventTime, PointEntry
from streamproof.report.svg import themed

WIDTH, HEIGHT = 1040, 300
_MOST_NUMBERED = 24
# Colours that occur nowhere else; `themed` turns them into the page's CSS variables, so that one SVG serves light and dark.
_EMITTED, _OPEN, _LATE, _REJECTED, _DUPLICATE, _FILTERED = (f"#a1000{digit}" for digit in "123456")
_STAIRS, _BAND, _LINE, _MUTED, _FAIL, _TEXT, _PAGE = (f"#a1000{digit}" for digit in "789abcd")
_COLOURS = {
    _EMITTED: "var(--emitted)",
    _OPEN: "var(--open)",
    _LATE: "var(--late)",
    _REJECTED: "var(--rejected)",
    _DUPLICATE: "var(--duplicate)",
    _FILTERED: "var(--filtered)",
    _STAIRS: "var(--stairs)",
    _BAND: "var(--band)",
    _LINE: "var(--line)",
    _MUTED: "var(--muted)",
    _FAIL: "var(--fail)",
    _TEXT: "var(--text)",
    _PAGE: "var(--page)",
}
_MARKS: dict[str, tuple[str, str, int, float]] = {  # shape, colour, area in square pixels, opacity; drawn in this order
    "emitted": ("circle", _EMITTED, 9, 0.6),
    "open_state": ("circle", _OPEN, 9, 0.9),
    "filtered": ("square", _FILTERED, 12, 0.9),
    "duplicate": ("diamond", _DUPLICATE, 18, 0.9),
    "rejected": ("cross", _REJECTED, 22, 0.9),
    "late": ("triangle-down", _LATE, 34, 0.95),
}
_OTHER = ("diamond", _DUPLICATE, 12, 0.9)
"""Of a place of the account that has no mark of its own."""


def _drawn_in_order() -> tuple[str, ...]:
    """Every place of the account."""
    return (*(place for place in PLACES if place not in _MARKS), *_MARKS)


@dataclass
class _Drawing:
    """What every layer needs; the data go beside the specification, where altair does not validate each row."""

    facts: EventTime
    low: int
    high: int
    last: int
    told: Mapping[str, str] = field(default_factory=dict)
    data: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def across(self) -> Any:
        axis = alt.Axis(grid=False, format=",d", tickCount=8)
        return alt.X("x:Q", title="arrival", scale=alt.Scale(domain=[0, self.last], nice=False), axis=axis)

    @property
    def up(self) -> Any:
        clock = "%H:%M" if self.high - self.low > 600_000_000 else "%H:%M:%S"
        scale = alt.Scale(type="utc", domain=[_millis(self.low), _millis(self.high)], nice=False)
        return alt.Y("y:T", title="event time, UTC", scale=scale, axis=alt.Axis(grid=False, format=clock, tickCount=6))

    def layer(self, name: str, rows: list[dict[str, Any]]) -> Any:
        self.data[name] = rows
        return alt.Chart(alt.NamedData(name))


def svg(
    facts: EventTime,
    points: list[PointEntry],
    span: tuple[int, int],
    *,
    windows_in_a_band: int,
    marked: set[str],
    told: Mapping[str, str],
    description: str,
) -> str:
    """The picture as SVG for embedding.

    Parameters
    ----------
    facts
        Watermark, windows and batches are drawn from it.
    points
        The events to draw; their event times lie in `span`.
    span
        Lowest and highest event time shown, microseconds since 1970.
    windows_in_a_band
        How many windows make one band.
    marked
        Trace ids of events to ring and name.
    told
        By trace id where in the page the story of an event stands: a click on it leads there.
    description
        What is said for the picture where it is not seen.
    """
    drawing = _Drawing(facts, *span, last=max(point["arrival"] for point in facts["points"]) + 1, told=told)
    layers = [
        *_bands(drawing, windows_in_a_band),
        *_batches(drawing),
        *(
            layer
            for fate in _drawn_in_order()
            for layer in _points(drawing, fate, [point for point in points if point["fate"] == fate])
        ),
        *_stairs(drawing),
        *_named(drawing, [point for point in points if point["event"] in marked]),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=WIDTH, height=HEIGHT, background="transparent", padding=2)
        .configure(font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_MUTED,
            titleColor=_MUTED,
            domainColor=_LINE,
            tickColor=_LINE,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            titlePadding=8,
        )
    )
    specification = chart.to_dict() | {"datasets": drawing.data}
    return themed(vl_convert.vegalite_to_svg(specification), _COLOURS, title="Event time against arrival", description=description)


def _bands(drawing: _Drawing, together: int) -> list[Any]:
    """Every second window (or group of windows) as a band across the picture."""
    ordered = sorted(drawing.facts["windows"], key=lambda window: window["start_us"])
    groups = [ordered[index : index + together] for index in range(0, len(ordered), together)]
    spans = [(max(group[0]["start_us"], drawing.low), min(group[-1]["end_us"], drawing.high)) for group in groups[::2]]
    rows = [{"x": 0, "x2": drawing.last, "y": _millis(low), "y2": _millis(high)} for low, high in spans if low < high]
    bands = drawing.layer("windows", rows).mark_rect(color=_BAND, aria=False)
    return [bands.encode(x=drawing.across, x2="x2:Q", y=drawing.up, y2="y2:T")] if rows else []


def _batches(drawing: _Drawing) -> list[Any]:
    starts = drawing.facts["batches"]
    every = -(-len(starts) // _MOST_NUMBERED) or 1
    rows = [
        {
            "x": start["first_arrival"],
            "y": _millis(drawing.high),
            "name": f"batch {start['batch']}" if index == 0 else "" if index % every else str(start["batch"]),
        }
        for index, start in enumerate(starts)
    ]
    base = drawing.layer("batches", rows)
    names = base.mark_text(align="left", baseline="top", dx=4, dy=1, fontSize=10, color=_MUTED, aria=False)
    return [
        base.mark_rule(color=_LINE, aria=False).encode(x=drawing.across),
        names.encode(x=drawing.across, y=drawing.up, text="name:N"),
    ]


def _points(drawing: _Drawing, fate: str, points: list[PointEntry]) -> list[Any]:
    """The events of one fate in one shape; the rare ones say which they are when pointed at."""
    if not points:
        return []
    shape, colour, size, opacity = _MARKS.get(fate, _OTHER)
    says = not PLACES[fate].stays
    style = {"shape": shape, "filled": True, "color": colour, "fillOpacity": opacity, "opacity": 1}
    layers = []
    for led, some in ((False, [one for one in points if one["event"] not in drawing.told]), (True, _told(drawing, points))):
        if not some:
            continue
        who = says or led
        rows = [_at(point) | ({"who": _who(point)} if who else {}) | _leading(drawing, point) for point in some]
        mark = drawing.layer(f"{fate}{' told' if led else ''}", rows).mark_point(
            size=max(size, 16) if led else size, aria=who, **style
        )
        encoded = mark.encode(x=drawing.across, y=drawing.up)
        encoded = encoded.encode(description="who:N") if who else encoded
        layers.append(encoded.encode(href="to:N") if led else encoded)
    return layers


def _told(drawing: _Drawing, points: list[PointEntry]) -> list[PointEntry]:
    """The events whose stories stand in the page."""
    return [point for point in points if point["event"] in drawing.told]


def _leading(drawing: _Drawing, point: PointEntry) -> dict[str, str]:
    place = drawing.told.get(point["event"])
    return {"to": f"#{place}"} if place else {}


def _stairs(drawing: _Drawing) -> list[Any]:
    inside = [mark for mark in drawing.facts["watermark"] if drawing.low <= mark["time_us"] <= drawing.high]
    marks = sorted(inside, key=lambda mark: mark["arrival"])
    if not marks:
        return []
    steps = [(mark["arrival"], mark["time_us"]) for mark in marks] + [(drawing.last, marks[-1]["time_us"])]
    rows = [{"x": arrival, "y": _millis(time)} for arrival, time in steps]
    # Without the orientation Vega-Lite steps up first and across afterwards, a batch too early.
    line = drawing.layer("watermark", rows).mark_line(
        interpolate="step-after", orient="vertical", color=_STAIRS, strokeWidth=1.75, aria=False
    )
    return [line.encode(x=drawing.across, y=drawing.up)]


def _named(drawing: _Drawing, points: list[PointEntry]) -> list[Any]:
    """Rings around events, with their ids; three are legible, more are not."""
    layers = []
    for number, point in enumerate(points[:3]):
        row = _at(point) | {"name": words.printable(point["event"])}
        base = drawing.layer(f"named {number}", [row]).encode(x=drawing.across, y=drawing.up)
        left = point["arrival"] > drawing.last * 0.2
        place = {"align": "right" if left else "left", "dx": -12 if left else 12, "dy": -10 if left else 12}
        style = {"fontSize": 12, "fontWeight": "bold", "aria": False}
        name = base.encode(text="name:N")
        layers += [
            base.mark_point(shape="circle", filled=False, color=_FAIL, size=160, strokeWidth=2, opacity=1, aria=False),
            name.mark_text(color=_PAGE, stroke=_PAGE, strokeWidth=4, **place, **style),
            name.mark_text(color=_TEXT, **place, **style),
        ]
    return layers


def _at(point: PointEntry) -> dict[str, Any]:
    return {"x": point["arrival"], "y": _millis(point["time_us"])}


def _who(point: PointEntry) -> str:
    event, place = words.printable(point["event"]), words.PLACES[point["fate"]]
    return f"{event}: {place}, {words.instant(point['time_us'])}, batch {point['batch']}"


def _millis(micros: int) -> float:
    return micros / 1000
