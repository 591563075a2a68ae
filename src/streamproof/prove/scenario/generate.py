"""The events of a scenario: from a seed, byte-identical on every machine, each with a trace id and what is wrong with it."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, assert_never

from streamproof.core.clock import to_micros
from streamproof.core.durations import micros_of
from streamproof.core.randomness import Seeded
from streamproof.prove.scenario.fitting import plan_of, require_event_time
from streamproof.prove.scenario.scenario import (
    ChoiceColumn,
    Column,
    Disorder,
    EventTimeColumn,
    IdColumn,
    KeyColumn,
    NumberColumn,
    Rhythm,
    Scenario,
    SourceScenario,
)
from streamproof.prove.scenario.written_time import SourceShape

TRACE = "_trace"


class Kind(StrEnum):
    """What kind of event the generator made: a sound one, a copy, or a faulty one."""

    OK = "ok"
    DUPLICATE = "duplicate"
    MALFORMED = "malformed"
    MISSING_TIME = "missing_time"
    UNPARSEABLE_TIME = "unparseable_time"
    FUTURE_TIME = "future_time"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Edge:
    """What an event is an edge of, in words ("a microsecond above the late bound").

    `late` says whether it must be late in each output of `queries`, by a batch whose late bound is `bound_us`; None where nothing hangs on that.
    """

    words: str
    queries: tuple[str, ...] = ()
    late: bool | None = None
    bound_us: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One input record.

    Parameters
    ----------
    trace
        "e-000123"; a copy of it "e-000123+1". The part before the plus is the event id.
    values
        The columns in their order, event time in its raw form; None where it is missing.
    time_us
        The event time it was made with, microseconds UTC; None if none is written, or none that can be read.
    record
        The JSON line without its end; for Parquet the same values, for people to read.
    arrival, batch, partition
        Place in the order of arrival, from 0, and the batch and file it is scheduled for.
    edge
        What it was put there for; None for an event of the seed's.
    """

    trace: str
    kind: Kind
    values: Mapping[str, Any]
    time_us: int | None
    record: bytes
    arrival: int
    batch: int
    partition: int
    edge: Edge | None = None

    @property
    def event_id(self) -> str:
        return self.trace.partition("+")[0]


Written = tuple[str, Any]
"""A value as it stands in JSON, and the value."""


@dataclass(frozen=True, slots=True)
class _Draft:
    trace: str
    kind: Kind
    number: int
    written: "dict[str, Written]"
    time_us: int
    arrives_us: int


def generate(scenario: Scenario, source_name: str, source: SourceShape) -> list[Event]:
    """The events of one source in the order they arrive.

    Raises
    ------
    ScenarioError
        If the scenario has no such source, its event time column is not the source's, or the pattern cannot be written.
    """
    plan = plan_of(scenario, source_name)
    if source.time_column is not None:
        require_event_time(plan, source_name, source.time_column)
    random = _Random(scenario.seed, source_name)
    drafts = _drafts(scenario.events, plan, source, random, f"{source_name}." if len(scenario.source) > 1 else "")
    drafts.sort(key=lambda draft: (draft.arrives_us, draft.trace))
    last, batches = len(drafts), plan.batches or scenario.batches
    return [
        _event(draft, plan, source, arrival, arrival * batches // last, arrival % scenario.files_per_batch)
        for arrival, draft in enumerate(drafts)
    ]


@dataclass(frozen=True)
class _Random:
    seed: int
    source: str

    def stream(self, *path: str) -> Seeded:
        return Seeded(self.seed, self.source, *path)


def _drafts(events: int, plan: SourceScenario, source: SourceShape, random: _Random, prefix: str) -> list[_Draft]:
    """The events before they are in the order of their arrival; where there are several sources, trace ids begin with the source's name."""
    copies = _number(plan.faults.duplicates, events)
    distinct = events - copies
    start, width = to_micros(plan.start), max(6, len(str(events)))
    times = sorted(_times(distinct, plan, random))
    columns = {name: list(_values(column, distinct, random.stream("column", name))) for name, column in plan.columns.items()}
    kinds = _kinds(events, distinct, plan, source, random)
    delays = _delays(distinct, plan.disorder, random, "arrival")
    invalid: dict[str, Written] = {name: (_json(value), value) for name, value in plan.faults.invalid_values.items()}
    drafts = []
    for number in range(distinct):
        time_us = _rounded(start + times[number], source)
        values = {name: written[number] for name, written in columns.items()}
        kind = kinds.get(number, Kind.OK)
        if kind is Kind.INVALID:
            values |= invalid
        drafts.append(
            _Draft(f"{prefix}e-{number:0{width}d}", kind, number, values, time_us, start + times[number] + delays[number])
        )
    return drafts + _copies(copies, [draft for draft in drafts if draft.kind is Kind.OK], plan, random)


def _rounded(time_us: int, source: SourceShape) -> int:
    return time_us - time_us % source.resolution_us


def _number(share: float, of: int) -> int:
    return max(1, round(share * of)) if share > 0 else 0


def _kinds(events: int, distinct: int, plan: SourceScenario, source: SourceShape, random: _Random) -> dict[int, Kind]:
    """Which events are made faulty: exact numbers, in places the seed decides."""
    shares = {Kind.INVALID: plan.faults.invalid}
    if plan.time_column is not None:
        shares |= {Kind.MISSING_TIME: plan.faults.missing_time, Kind.FUTURE_TIME: plan.faults.future_time}
    if source.format != "parquet":
        shares[Kind.MALFORMED] = plan.faults.malformed
    if plan.time_column is not None and (source.format in ("json", "csv", "json_schema") or source.time_format is not None):
        shares[Kind.UNPARSEABLE_TIME] = plan.faults.unparseable_time
    places = iter(random.stream("faults").shuffled(range(distinct)))
    kinds: dict[int, Kind] = {}
    for kind in Kind:
        kinds |= {place: kind for _, place in zip(range(_number(shares.get(kind, 0.0), events)), places, strict=False)}
    return kinds


def _copies(number: int, originals: list[_Draft], plan: SourceScenario, random: _Random) -> list[_Draft]:
    chance = random.stream("duplicates")
    within = micros_of(plan.faults.duplicated_within)
    delays = _delays(number, plan.disorder, random, "duplicate arrival")
    made: dict[str, int] = {}
    copies = []
    for index in range(number):
        original = chance.choice(originals)
        made[original.trace] = made.get(original.trace, 0) + 1
        arrives_us = original.arrives_us + 1_000 * int(chance.uniform() * within / 1_000) + delays[index]
        trace = f"{original.trace}+{made[original.trace]}"
        copies.append(_Draft(trace, Kind.DUPLICATE, original.number, original.written, original.time_us, arrives_us))
    return copies


def _times(count: int, plan: SourceScenario, random: _Random) -> Iterator[int]:
    """Microseconds after the start, whole milliseconds; none in an idle stretch, more in a burst."""
    chance = random.stream("event time")
    idle, bursts = _stretches(plan.rhythm, micros_of(plan.span), random.stream("rhythm"))
    quiet = sum(end - begin for begin, end in idle)
    for _ in range(count):
        if bursts and chance.chance(plan.rhythm.burst_share):
            begin, end = chance.choice(bursts)
            time_us = chance.between(begin, end)
        else:
            time_us = chance.between(0, micros_of(plan.span) - quiet)
            for begin, end in idle:
                time_us += end - begin if time_us >= begin else 0
        yield int(time_us) // 1_000 * 1_000


def _stretches(rhythm: Rhythm, span_us: int, chance: Seeded) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Idle stretches and bursts, apart from each other: each lies in a slot of its own, the span cut into equal slots."""
    total = rhythm.idle + rhythm.bursts
    idle: list[tuple[int, int]] = []
    bursts: list[tuple[int, int]] = []
    for index, slot in enumerate(chance.shuffled(range(total))):
        into, length = (idle, micros_of(rhythm.idle_length)) if index < rhythm.idle else (bursts, micros_of(rhythm.burst_length))
        free = max(0, span_us // total - length)
        begin = slot * span_us // total + int(chance.uniform() * free)
        into.append((begin, begin + length))
    return sorted(idle), sorted(bursts)


def _delays(count: int, disorder: Disorder, random: _Random, purpose: str) -> list[int]:
    """How long after it happened each event arrives, microseconds, whole milliseconds."""
    chance = random.stream(purpose)
    typical_ms, (least, most) = micros_of(disorder.typical) / 1_000, disorder.delayed_by
    delays = [1_000 * int(chance.exponential(typical_ms)) if typical_ms else 0 for _ in range(count)]
    for place in chance.shuffled(range(count))[: _number(disorder.delayed, count) if count else 0]:
        delays[place] += 1_000 * int(chance.between(micros_of(least), micros_of(most)) / 1_000)
    return delays


def _values(column: Column, count: int, chance: Seeded) -> Iterator[Written]:
    """The column's values; none for the event time, which is written later."""
    match column:
        case IdColumn():
            names = (f"{column.prefix}{number:0{column.width}d}" for number in range(count))
            yield from ((_json(name), name) for name in names)
        case KeyColumn():
            digits = len(str(column.count - 1))
            keys = [_text(f"{column.prefix}{number:0{digits}d}") for number in range(column.count)]
            hot, others = keys[:1], keys[1:] if column.hot and column.count > 1 else keys
            yield from (chance.choice(hot if chance.chance(column.hot) else others) for _ in range(count))
        case NumberColumn():
            scale = 10**column.decimals
            low, high = round(column.min * scale), round(column.max * scale)
            read = float if column.decimals else int
            texts = (_fixed(low + chance.below(high - low + 1), column.decimals) for _ in range(count))
            yield from ((text, read(text)) for text in texts)
        case ChoiceColumn():
            choices = [(_json(value), value) for value in column.values]
            yield from (chance.choice(choices) for _ in range(count))
        case EventTimeColumn():
            yield from (("null", None) for _ in range(count))
        case _:
            assert_never(column)


def _text(value: str) -> Written:
    return _json(value), value


def _fixed(number: int, decimals: int) -> str:
    """The number divided by 10^decimals, written exactly."""
    if decimals == 0:
        return str(number)
    whole, fraction = divmod(abs(number), 10**decimals)
    return f"{'-' if number < 0 else ''}{whole}.{fraction:0{decimals}d}"


_json = json.JSONEncoder(ensure_ascii=False).encode


def _event(draft: _Draft, plan: SourceScenario, source: SourceShape, arrival: int, batch: int, partition: int) -> Event:
    time_us = _written_time(draft, plan, source)
    written = draft.written
    if plan.time_column is not None:
        raw = "sometime" if draft.kind is Kind.UNPARSEABLE_TIME else None if time_us is None else source.written(time_us)
        written = written | {plan.time_column: (_json(raw.isoformat() if isinstance(raw, datetime) else raw), raw)}
    texts = {name: text for name, (text, _) in written.items()}
    if plan.time_column is not None and draft.kind is Kind.MISSING_TIME and draft.number % 2:
        del texts[plan.time_column]
    record = _spoilt(draft, texts, plan) if draft.kind is Kind.MALFORMED else record_of(draft.trace, texts)
    values = {name: value for name, (_, value) in written.items()}
    return Event(draft.trace, draft.kind, values, time_us, record, arrival, batch, partition)


def _written_time(draft: _Draft, plan: SourceScenario, source: SourceShape) -> int | None:
    if plan.time_column is None:
        return draft.time_us
    if draft.kind in (Kind.MISSING_TIME, Kind.UNPARSEABLE_TIME):
        return None
    if draft.kind is Kind.FUTURE_TIME:
        return to_micros(source.far_future) + draft.time_us - _rounded(to_micros(plan.start), source)
    return draft.time_us


def record_of(trace: str, texts: Mapping[str, str]) -> bytes:
    """The JSON line of an event, its values as they are to stand in it."""
    rest = "".join(f", {_json(name)}: {text}" for name, text in texts.items())
    return f'{{"{TRACE}": "{trace}"{rest}}}'.encode()


def without_trace(record: bytes) -> bytes:
    """The record as a real source would hold it: `_trace`, its first key, taken out."""
    head, separator, rest = record.partition(b", ")
    return b"{" + rest if separator and head.startswith(b'{"_trace"') else record


def _spoilt(draft: _Draft, texts: dict[str, str], plan: SourceScenario) -> bytes:
    """A record that is no JSON object of the schema, though its trace can still be read from its bytes."""
    numbers = [name for name, column in plan.columns.items() if isinstance(column, NumberColumn)]
    ways: list[Callable[[], bytes]] = [lambda: _cut_short(draft, texts), lambda: _not_utf8(draft, texts)]
    if numbers:
        ways.append(lambda: record_of(draft.trace, texts | {numbers[0]: '"a lot"'}))
    return ways[draft.number % len(ways)]()


def _cut_short(draft: _Draft, texts: dict[str, str]) -> bytes:
    record, head = record_of(draft.trace, texts), len(record_of(draft.trace, {})) + 1
    return record[: head + (len(record) - head) // 2]


def _not_utf8(draft: _Draft, texts: dict[str, str]) -> bytes:
    """Bytes that are no UTF-8, standing where JSON allows no text: no reader can take them for a value."""
    record, head = record_of(draft.trace, texts), len(record_of(draft.trace, {})) + 1
    return record[:head] + b"\xff\xfe" + record[head:]
