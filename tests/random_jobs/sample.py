"""A small sample of events for a random job: out of order, late, at the edges of windows, twice, without a time, torn."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from streamproof.core.randomness import Seeded

SCHEMA = "id string, client string, kind int, v bigint, ts bigint"
FILES, EVENTS_OF_FILE = 5, 14
_MS = {"second": 1_000, "minute": 60_000, "hour": 3_600_000}


@dataclass(frozen=True)
class Scale:
    """How time passes in a sample, and the durations that go with it.

    Parameters
    ----------
    begins
        The first event time.
    span_ms
        From there to the last.
    step_ms
        Where windows begin and end: some events lie there exactly.
    own_gaps
        By what a value is multiplied to be a gap in seconds, and the longest that may be.
    """

    name: str
    begins: datetime
    span_ms: int
    step_ms: int
    lags: tuple[str, ...]
    sizes: tuple[str, ...]
    offsets: tuple[str, ...]
    hops: tuple[tuple[str, str], ...]
    gaps: tuple[str, ...]
    longest: str
    own_gaps: tuple[float, tuple[str, ...]]
    lateness: tuple[str, ...]


MINUTES = Scale(
    "minutes",
    datetime(2026, 1, 5, 9, tzinfo=UTC),
    5 * _MS["minute"],
    10 * _MS["second"],
    lags=("0 seconds", "5 seconds", "20 seconds"),
    sizes=("20 seconds", "30 seconds", "45 seconds", "1 minute"),
    offsets=("0 seconds", "7 seconds", "10 seconds"),
    hops=(("1 minute", "20 seconds"), ("30 seconds", "10 seconds"), ("50 seconds", "20 seconds"), ("30 seconds", "30 seconds")),
    gaps=("4 seconds", "10 seconds", "25 seconds"),
    longest="40 seconds",
    own_gaps=(1.5, ("12 seconds", "25 seconds")),
    lateness=("0 seconds", "10 seconds", "45 seconds"),
)
DAYS = Scale(
    "days",
    datetime(2026, 3, 22, 18, tzinfo=UTC),  # clocks go on in Europe on the 29th
    21 * 24 * _MS["hour"],
    6 * _MS["hour"],
    lags=("0 seconds", "3 hours", "1 day"),
    sizes=("12 hours", "1 day", "36 hours"),
    offsets=("0 seconds", "90 minutes", "6 hours"),
    hops=(("1 day", "6 hours"), ("2 days", "1 day"), ("30 hours", "12 hours")),
    gaps=("2 hours", "9 hours", "1 day"),
    longest="2 days",
    own_gaps=(3600.0, ("9 hours", "1 day")),
    lateness=("0 seconds", "6 hours", "2 days"),
)
SCALES = (MINUTES, DAYS)


@dataclass(frozen=True)
class Sample:
    """The events of a job.

    Parameters
    ----------
    files
        Names and lines, in the order in which they are read.
    rows
        By trace what a record says, `ts` in microseconds; None of a line that is torn.
    traces
        By file the traces of its records; a copy of an event bears its id with "+1" at its end.
    """

    files: Mapping[str, tuple[str, ...]]
    rows: Mapping[str, Mapping[str, Any] | None]
    lines: Mapping[str, str]
    traces: Mapping[str, tuple[str, ...]]


def sample(seed: Seeded, scale: Scale, stem: str = "", count: int = FILES, copied: Sample | None = None) -> Sample:
    """Files of events, each a bit later than the one before.

    Parameters
    ----------
    stem
        What the names of the files begin with.
    count
        How many files there are: with fewer than `FILES` a source runs dry early.
    copied
        The events of another source: some of these are copies of them.
    """
    files: dict[str, tuple[str, ...]] = {}
    traces: dict[str, tuple[str, ...]] = {}
    lines: dict[str, str] = dict(copied.lines) if copied is not None else {}
    rows: dict[str, Mapping[str, Any] | None] = dict(copied.rows) if copied is not None else {}
    for number in range(count):
        of_file: list[str] = []
        for place in range(EVENTS_OF_FILE):
            trace = f"{stem or 'e'}-{number * EVENTS_OF_FILE + place:06d}"
            again = seed.choice([*lines, trace]) if seed.chance(0.2) else trace
            if again != trace:  # a copy of an event, line for line
                event = again.partition("+")[0]
                trace = f"{event}+{sum(known.partition('+')[0] == event for known in lines)}"
                lines[trace], rows[trace] = lines[again], rows[again]
            else:
                lines[trace], rows[trace] = _event(seed, scale, trace, number, place)
            of_file.append(trace)
        name = f"{stem}{number + 1:03d}.json"
        files[name], traces[name] = tuple(lines[trace] for trace in of_file), tuple(of_file)
    own = [trace for of_file in traces.values() for trace in of_file]
    return Sample(files, {trace: rows[trace] for trace in own}, {trace: lines[trace] for trace in own}, traces)


def with_keys_again(seed: Seeded, events: Sample) -> Sample:
    """The sample with the keys of some events in later ones too, which come at another time.

    In one file a key is that of one event: of several which stays is not promised.
    """
    lines, rows = dict(events.lines), dict(events.rows)
    copied = {trace.partition("+")[0] for trace in lines if "+" in trace}
    before: list[str] = []
    for traces in events.traces.values():
        own = [trace for trace in traces if (row := rows[trace]) is not None and row["ts"] is not None]
        there = {row["id"] for trace in traces if (row := rows[trace]) is not None}
        for trace in own:
            first = rows[seed.choice(before)] if before and trace not in copied and "+" not in trace and seed.chance(0.4) else None
            if first is not None and first["id"] not in there:
                there.add(first["id"])
                rows[trace] = {**(rows[trace] or {}), "id": first["id"], "client": first["client"]}
                lines[trace] = json.dumps({**json.loads(lines[trace]), "id": first["id"], "client": first["client"]})
        before = own
    files = {name: tuple(lines[trace] for trace in events.traces[name]) for name in events.files}
    return replace(events, files=files, lines=lines, rows=rows)


def _event(seed: Seeded, scale: Scale, trace: str, number: int, place: int) -> tuple[str, Mapping[str, Any] | None]:
    passed = (number * EVENTS_OF_FILE + place) / (FILES * EVENTS_OF_FILE)
    behind = seed.exponential(scale.step_ms) if seed.chance(0.6) else 0
    # The bound of a batch lies one or two files after it: as far back as that, events come on both sides of it.
    behind += seed.between(0, 2.5 * scale.span_ms / FILES) if seed.chance(0.35) else 0
    at = int(scale.begins.timestamp() * 1_000) + int(passed * scale.span_ms - behind)
    at -= at % scale.step_ms if seed.chance(0.25) else 0
    values: dict[str, Any] = {
        "id": trace,
        "client": None if seed.chance(0.06) else seed.choice("abc"),
        "kind": seed.below(4),
        "v": None if seed.chance(0.06) else seed.below(24) - 4,
        "ts": None if seed.chance(0.03) else at,
    }
    line = json.dumps(values)
    if seed.chance(0.03):
        return line[: len(line) - 9], None
    return line, {**values, "ts": None if values["ts"] is None else at * 1_000}
