"""`streamproof lag SAMPLE`: how far events are out of order, and which delay loses no more of them than is wanted."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from streamproof.doctor.skew.chunks import Chunk
    from streamproof.report.skew import Shown

EXAMPLES = """\b
Examples:
  streamproof lag clicks.jsonl
  streamproof lag clicks.jsonl --lose 0.01% --by device
  streamproof lag clicks.jsonl --lag "10 seconds"            what this delay loses; exit code 1 if it is more than --lose
  streamproof lag trades/ --arrival received_at --html lag.html
  streamproof lag topic.parquet --batch 5000                 records of Kafka: by partition too

\b
Exit codes:
  0  a delay is enough      1  none is, or the one of --lag loses too much      2  wrong usage, or no sample
"""
_NONE = "none"
_LARGEST_BATCH = 1_000_000_000
_LONGEST_DAYS = 36_500


def lag(
    sample: Annotated[
        list[Path],
        typer.Argument(
            metavar="SAMPLE", help="Files of JSON lines, CSV, Parquet or Avro, or folders of them; one after the other."
        ),
    ],
    lose: Annotated[str, typer.Option(metavar="SHARE", help="The share of events that may be late.")] = "0.1%",
    asked: Annotated[
        str | None,
        typer.Option(
            "--lag", metavar="DURATION", help='Say what this delay loses, such as "10 seconds". 1 if it is more than --lose.'
        ),
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The event time. Without it: what looks like one.")] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="UNIT", help="What its numbers count: seconds, milliseconds, microseconds or nanoseconds.")
    ] = None,
    arrival: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The order of arrival: a time, or a number that rises. Without it: the order of the sample."
        ),
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Show the slowest keys: a device, a client.")] = None,
    partition: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Show the slowest partitions. Records of Kafka have one by themselves.")
    ] = None,
    batch: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=_LARGEST_BATCH, help="Events in a batch. 1 is the worst case: each is judged by all before it."
        ),
    ] = 1,
    max_future: Annotated[
        str, typer.Option(metavar="DURATION", help='Leave out events further ahead of the clock, as a job does; "none" takes all.')
    ] = "1 day",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with the picture too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
) -> int:
    """Measure how far events are behind the newest before them, and recommend a delay. It starts no Spark."""
    wanted, asked_us = _share(lose), None if asked is None else _micros(asked, "--lag")
    limit_us = None if max_future.strip().lower() == _NONE else _micros(max_future, "--max-future")
    from streamproof.doctor.skew.chunks import by_arrival
    from streamproof.doctor.skew.measure import Measure
    from streamproof.doctor.skew.skew import Judging
    from streamproof.prove.scenario.sample_events import UNITS, Asked, open_sample
    from streamproof.report.skew import Shown, print_skew

    if unit is not None and unit not in UNITS:
        raise ConfigurationError(f"--unit is {unit}.", required=f"It is one of {', '.join(UNITS)}.")
    events = open_sample(sample, Asked(time, unit, arrival, by, partition))
    measure = Measure(events.names, Judging(batch, limit_us, events.clock_known), delays=() if asked_us is None else (asked_us,))
    with screen.waiting("measuring") as say:
        chunks = _counted(events.chunks(), say)
        for chunk in by_arrival(chunks) if events.arrival is not None else chunks:
            measure.add(chunk)
    skew = measure.finished(lose=wanted)
    shown = Shown(
        events.name,
        skew,
        events.time,
        events.unit,
        dict(events.grouped),
        events.arrival,
        asked_us,
        (*events.notes, *events.notes_of_lines()),
    )
    if html is not None:
        _write(html, shown)
    if as_json:
        beside = {"sample": events.name, "event_time": events.time, "unit": events.unit, "arrival": events.arrival}
        told = {
            "asked": None if shown.asked is None else shown.asked.as_dict(),
            "notes": list(shown.notes),
            "left_out": events.broken,
        }
        screen.console().print(json.dumps({**beside, **skew.as_dict(), **told}, indent=2))
    else:
        print_skew(shown, screen.console())
        if html is not None:
            screen.console().print(f"  {'page':<20}{html}")
    too_much = shown.asked is not None and shown.asked.share > wanted
    return 1 if skew.delays.chosen is None or too_much else 0


def _counted(chunks: "Iterable[Chunk]", say: Callable[[str], None]) -> "Iterator[Chunk]":
    read = 0
    for chunk in chunks:
        yield chunk
        read += len(chunk)
        say(f"{read:,} events")


def _write(path: Path, shown: "Shown") -> None:
    from streamproof.report import skew_page

    try:
        path.write_text(skew_page.render(shown), encoding="utf-8")
    except OSError as problem:
        raise ConfigurationError(f"{path} cannot be written: {problem.strerror}.") from None


def _share(text: str) -> float:
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        found = float(number) / (100 if percent else 1)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1:
        raise ConfigurationError(
            f"--lose is {text}.", required='It is a share of the events below all of them, such as "0.1%" or 0.001.'
        )
    return found


def _micros(text: str, option: str) -> int:
    from streamproof.core.durations import micros_of, parse_duration

    try:
        found = parse_duration(text)
    except ValueError as problem:
        raise ConfigurationError(f"{option}: {problem}.") from None
    if found > timedelta(days=_LONGEST_DAYS):
        raise ConfigurationError(
            f"{option} is {text}.",
            required=f"It is {_LONGEST_DAYS:,} days at most.",
            remedy='With "none" no event is too far ahead.' if option == "--max-future" else "",
        )
    return micros_of(found) // 1_000 * 1_000
