"""What the event-time picture shows, as a picture where the extra `report` is installed and as a table everywhere."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from streamproof.core.account import shown
from streamproof.report import words
from streamproof.report.shape import EventTime, Report

_MOST_BANDS = 40


@dataclass(frozen=True)
class Picture:
    """The picture or the reason there is none, and the same facts as a table: a row for each batch, `places` its columns."""

    svg: str
    places: tuple[str, ...]
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


def draw(report: Report, marked: list[str], told: Mapping[str, str]) -> Picture:
    """The picture of a report; the events in `marked` (trace ids of findings) are ringed and named, those in `told` lead to their stories.

    Without altair and vl-convert, and without any point, `svg` is empty.
    """
    facts = report["event_time"]
    low, high = span = _span(facts)
    inside = [point for point in facts["points"] if low <= point["time_us"] <= high]
    together = max(1, -(-len(facts["windows"]) // _MOST_BANDS))
    drawn = ""
    if facts["points"] and installed():
        from streamproof.report import chart

        events = {name.split("+")[0] for name in marked}
        described = _description(facts, words.noun(report))
        drawn = chart.svg(facts, inside, span, windows_in_a_band=together, marked=events, told=told, description=described)
    return Picture(
        svg=drawn,
        places=tuple(fate for fate, _ in _fates(facts)),
        fates=tuple((fate, count) for fate, count in _fates(facts) if count),
        outside=len(facts["points"]) - len(inside),
        windows_in_a_band=together,
        rows=tuple(_rows(facts)),
        missing_extra=not installed(),
    )


def _fates(facts: EventTime) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter(point["fate"] for point in facts["points"])
    return [(fate, counts[fate]) for fate in shown(counts)]


def _rows(facts: EventTime) -> list[BatchRow]:
    marks = {mark["batch"]: mark["time_us"] for mark in facts["watermark"]}
    places = [fate for fate, _ in _fates(facts)]
    by_batch: Counter[tuple[int, str]] = Counter((point["batch"], point["fate"]) for point in facts["points"])
    return [
        BatchRow(
            batch=start["batch"],
            first_arrival=start["first_arrival"],
            watermark=words.instant(marks[start["batch"]]) if marks.get(start["batch"]) else "none yet",
            fates=tuple(by_batch[start["batch"], fate] for fate in places),
        )
        for start in facts["batches"]
    ]


def _span(facts: EventTime) -> tuple[int, int]:
    """Event times to show: all events that were taken; late ones and the watermark up to one such span below.

    A single timestamp of 1970 or 2099 among the rejected would flatten everything else to a line.
    """
    times = [point["time_us"] for point in facts["points"] if point["fate"] not in ("late", "rejected")]
    times = times or [point["time_us"] for point in facts["points"]] or [0]
    low, high = min(times), max(times)
    room = low - max(high - low, 1_000_000)
    below = [point["time_us"] for point in facts["points"] if point["fate"] == "late"]
    below += [mark["time_us"] for mark in facts["watermark"]]
    low = min([low, *(time for time in below if time >= room)])
    margin = max(high - low, 1_000_000) // 25
    return low - margin, high + margin


def _description(facts: EventTime, noun: str) -> str:
    fates = ", ".join(f"{count} {words.PLACES[fate]}" for fate, count in _fates(facts) if count)
    return f"{len(facts['points'])} {noun}s by arrival (across) and event time (up): {fates}. The watermark rises as a staircase."
