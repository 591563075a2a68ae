"""Events at the edges, in every scenario unless it says otherwise: where a rule that is off by one tick shows.

They stand in the place of ordinary events, so that number, batches and files stay what the scenario says, and so do the newest events of each
batch: the watermark moves as it would without them. Around `max_future` there are none: that limit moves with the wall clock, and events are
the same bytes for every proof (`future_limit` asks the job's reading with a clock that stands still).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.oracle.watermark import Watermark
from streamproof.prove.oracle.windows import PlainGap, PlainSession, PlainWindow
from streamproof.prove.scenario.generate import Edge, Event, Kind, record_of, without_trace
from streamproof.prove.scenario.intents import refused
from streamproof.prove.scenario.scenario import ChoiceColumn, EventTimeColumn, IdColumn, SourceScenario
from streamproof.prove.scenario.written_time import SourceShape

_ONE_IN = 10
"""At most so large a part of the events are edges: a scenario of a few events stays what it is."""


@dataclass(frozen=True)
class Around:
    """What edges are made from.

    Parameters
    ----------
    ddl
        The declared columns; what is `NOT NULL` there is never null.
    time
        The event time that the user's file declares.
    shape
        The first query of the source that keeps state; None where none does.
    """

    plan: SourceScenario
    source: SourceShape
    ddl: str = ""
    time: AskedTime | None = None
    shape: QueryShape | None = None


def with_edges(events: Sequence[Event], around: Around) -> list[Event]:
    """The events with some ordinary ones replaced by edges; the same events give the same edges."""
    board = _Board(list(events), around)
    for make in (_late_bound, _horizon, _copy_in_a_later_batch, _window_edges, _nulls, _two_records, _nested, _missing_time):
        make(board, around)
    return board.events


def never_sent(events: Sequence[Event], plan: SourceScenario) -> list[Event]:
    """Two events beside the others, with ids and traces of their own: for a transaction that is aborted (R9), one for each partition."""
    made: list[Event] = []
    for event in [event for event in events if event.kind is Kind.OK][:2]:
        own = {name: f"{event.values[name]}-aborted" for name, column in plan.columns.items() if isinstance(column, IdColumn)}
        values, trace = {**event.values, **own}, f"{event.trace}-aborted"
        record = record_of(trace, {name: _text(value) for name, value in values.items()})
        made.append(replace(event, trace=trace, values=values, record=record, partition=len(made)))
    return made


@dataclass
class _Board:
    """The events as they become; a place is taken once, and never that of a copy, of its event, or of the newest event of a batch."""

    events: list[Event]
    around: Around
    left: int = field(init=False)
    bounds: list[int] = field(init=False)
    newest: dict[int, int] = field(init=False)
    _places: dict[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.left = len(self.events) // _ONE_IN
        self.newest, self._places = {}, {}
        copied = {event.event_id for event in self.events if event.kind is Kind.DUPLICATE}
        for event in self.events:
            passes = event.kind is not Kind.INVALID and not refused(event, self.around.time, time_is_text=True)
            if passes and event.time_us is not None:
                self.newest[event.batch] = max(self.newest.get(event.batch, event.time_us), event.time_us)
        for place, event in enumerate(self.events):
            free = event.kind is Kind.OK and event.event_id not in copied and event.time_us is not None
            if free and event.time_us != self.newest[event.batch]:
                self._places.setdefault(event.batch, []).append(place)
        self.bounds = _bounds(self.newest, self.batches, self.around.shape)

    @property
    def batches(self) -> int:
        return self.events[-1].batch + 1 if self.events else 0

    def place(self, batch: int) -> int | None:
        """The last ordinary event of a batch that is not taken yet."""
        places = self._places.get(batch, [])
        if not places or self.left <= 0:
            return None
        self.left -= 1
        return places.pop()

    def put(
        self, batch: int, edge: Edge, *, time_us: int | None = None, kind: Kind = Kind.OK, values: Mapping[str, Any] | None = None
    ) -> Event | None:
        """Makes an ordinary event of the batch an edge, with another time or other values; the event, if there is room for it."""
        tick = self.around.source.tick_us
        if time_us is not None and (time_us % tick or time_us > self.newest.get(batch, time_us)):
            return None  # it cannot be written, or would move the watermark
        place = self.place(batch)
        if place is None:
            return None
        event = self.events[place]
        made = _remade(replace(event, kind=kind, edge=edge), {**event.values, **(values or {})}, self.around, time_us)
        self.events[place] = made
        return made

    def copy(self, original: Event, batch: int, edge: Edge) -> None:
        """Puts a copy of an event into a later batch."""
        place = self.place(batch)
        if place is None:
            return
        there = self.events[place]
        copied = replace(original, trace=f"{original.trace}+1", kind=Kind.DUPLICATE, edge=edge)
        copied = replace(copied, arrival=there.arrival, batch=there.batch, partition=there.partition)
        self.events[place] = _remade(copied, original.values, self.around, None)


def _bounds(newest: Mapping[int, int], batches: int, shape: QueryShape | None) -> list[int]:
    """The late bound of every batch as it will be: the watermark of the batch before (R10)."""
    watermark, bounds, last = Watermark(shape.delay_us if shape is not None else None), [], 0
    for batch in range(batches):
        bounds.append(last)
        last = watermark.predicted_ms * 1_000
        watermark.saw(newest.get(batch))
    return bounds


def _remade(event: Event, values: Mapping[str, Any], around: Around, time_us: int | None) -> Event:
    """The event with these values, another time if one is given, and the record that says so."""
    changed = dict(values)
    if time_us is not None:
        event = replace(event, time_us=time_us)
        if around.plan.time_column is not None:
            changed[around.plan.time_column] = around.source.written(time_us)
    texts = {name: _text(value) for name, value in changed.items()}
    return replace(event, values=changed, record=record_of(event.trace, texts))


def _text(value: Any) -> str:
    return json.dumps(value.isoformat() if isinstance(value, datetime) else value, ensure_ascii=False)


def _tried(board: _Board, around: Around) -> tuple[QueryShape, int, int] | None:
    """The query, and the last batch with a bound that has moved, with the bound; None where no event can be late."""
    shape = around.shape
    if shape is None or around.plan.time_column is None or around.time is None:
        return None
    batch = board.batches - 1
    moved = batch >= 2 and board.bounds[batch] > board.bounds[batch - 1]
    return (shape, batch, board.bounds[batch]) if moved else None


def _late_bound(board: _Board, around: Around) -> None:
    """At the late bound of the last batch, a tick above it and a tick below."""
    if (found := _tried(board, around)) is None:
        return
    shape, batch, bound = found
    tick = around.source.tick_us
    after: bool | None = False
    kind = shape.decides
    if kind is not None and not kind.late_by_time:
        last = kind.last_late(bound, tick)
        after = None if kind.several else False  # where windows overlap it is late for all but the newest
        words = "in the last window that ends at or below the late bound"
    else:
        last, words = bound - bound % tick, "at the late bound"
    for offset, where in ((0, words), (-tick, f"a tick before the one {words}"), (tick, f"a tick after the one {words}")):
        late = True if offset <= 0 else after
        board.put(batch, Edge(where, shape.query, late=late, bound_us=bound), time_us=last + offset)


def _horizon(board: _Board, around: Around) -> None:
    """Copies in the last batch of events in an earlier one: at the bound, where the key is forgotten, and a tick above it."""
    found = _tried(board, around)
    if found is None or found[0].deduplicate is None or found[0].order_by is not None:
        return
    shape, batch, bound = found
    tick = around.source.tick_us
    at = bound - bound % tick
    earlier = [number for number in range(batch) if board.bounds[number] < at <= board.newest.get(number, at - 1)]
    if not earlier:
        return
    for time_us, late, words in (
        (at, True, "at the end of the horizon"),
        (at + tick, False, "a tick before the end of the horizon"),
    ):
        original = board.put(earlier[0], Edge(f"whose copy comes {words}"), time_us=time_us)
        if original is not None:
            board.copy(original, batch, Edge(f"as a copy {words}", shape.query, late=late, bound_us=bound))


def _copy_in_a_later_batch(board: _Board, around: Around) -> None:
    if around.shape is None or around.shape.deduplicate is None or board.batches < 2:
        return
    original = board.put(0, Edge("whose copy comes in the next batch"))
    if original is not None:
        board.copy(original, 1, Edge("as a copy in the next batch"))


def _window_edges(board: _Board, around: Around) -> None:
    """At the start of a window, a tick before and a tick after, in the first batch."""
    kind, tick = around.shape.entered.window if around.shape is not None else None, around.source.tick_us
    if kind is None or around.plan.time_column is None:
        return
    if kind.merges:
        _gaps(board, around, kind)
    start, _ = kind.assign(board.newest.get(0, 0))[-1]
    for offset, words in ((0, "at"), (-tick, "a tick before"), (tick, "a tick after")):
        board.put(0, Edge(f"{words} the start of a window"), time_us=start + offset)


def _gaps(board: _Board, around: Around, kind: PlainWindow) -> None:
    """Two events of one key a gap apart, a tick less and a tick more: in one session, in one, in two."""
    tick, gap, own = around.source.tick_us, kind.at_least_us, {}
    if isinstance(kind, PlainSession) and kind.own is not None:
        seconds = _own_gaps(board, around, kind.own)
        if seconds is None:
            return
        gap, own = seconds * 1_000_000, {kind.own.column: seconds}
    by = around.shape.entered.by if around.shape is not None else ()
    for number, (offset, words) in enumerate(
        ((0, "exactly a gap"), (-tick, "a tick less than a gap"), (tick, "a tick more than a gap"))
    ):
        newest = board.newest.get(0, 0)
        at = newest - newest % tick - (3 * number + 2) * (gap - gap % tick + tick)
        first = board.put(0, Edge(f"that another follows by {words}"), time_us=at, values=own)
        if first is not None:
            keys = {name: first.values[name] for name in by if name in first.values}
            board.put(0, Edge(f"{words} behind another of its key"), time_us=at + gap + offset, values=keys)


def _own_gaps(board: _Board, around: Around, gap: PlainGap) -> int | None:
    """Events whose own gap is none, just below what is too long, and just that; gives seconds that are a gap, where the column can have them."""
    found = re.search(rf"(?<!\w){re.escape(gap.column)}(?!\w)[\s:]+(\w+)", around.ddl, re.IGNORECASE)
    longest = gap.at_most_us // 1_000_000
    can = found is not None and found[1].lower() in ("int", "integer", "bigint", "long", "float", "real", "double")
    if gap.column not in around.plan.columns or not can or not 0 < longest < 2**24:
        return None  # a column that a transform makes, or one that could not hold them
    for number, (value, words) in enumerate(
        ((0, "of zero"), (-1, "below zero"), (longest, "as long as it may be"), (longest + 1, "that is too long"))
    ):
        board.put(number % board.batches, Edge(f"with a gap {words}"), values={gap.column: value})
    return max(1, min(longest // 2, 10))


def _nulls(board: _Board, around: Around) -> None:
    """Null in each column that may be null, the keys among them, in turn over the batches."""
    if around.source.format in ("protobuf", "text"):
        return  # they have no null: an absent text is an empty one
    for number, name in enumerate(_nullable(around)):
        board.put(number % board.batches, Edge(f"with null in {name}"), values={name: None})


def _nullable(around: Around) -> Iterator[str]:
    for name, column in around.plan.columns.items():
        not_null = re.search(rf"(?<!\w){re.escape(name)}(?!\w)[^,]*\bnot\s+null\b", around.ddl, re.IGNORECASE)
        if not isinstance(column, EventTimeColumn) and not not_null:
            yield name


def _two_records(board: _Board, around: Around) -> None:
    """Two objects in one line of JSON: one record, which cannot be read."""
    if around.source.format == "json":
        event = board.put(0, Edge("as two records on a line"), kind=Kind.MALFORMED)
        if event is not None:
            board.events[event.arrival] = replace(event, record=event.record + b" " + without_trace(event.record))


def _nested(board: _Board, around: Around) -> None:
    """An empty list, and an object whose fields are null, where a column of JSON has such values."""
    if around.source.format != "json":
        return
    for number, (name, column) in enumerate(around.plan.columns.items()):
        for value in column.values[:1] if isinstance(column, ChoiceColumn) else ():
            if isinstance(value, list):
                board.put(number % board.batches, Edge(f"with an empty list in {name}"), values={name: []})
            elif isinstance(value, dict):
                board.put(number % board.batches, Edge(f"with nulls inside {name}"), values={name: dict.fromkeys(value)})


def _missing_time(board: _Board, around: Around) -> None:
    """Null in the event time."""
    column = around.plan.time_column
    if column is not None and around.source.time_column is not None:
        event = board.put(0, Edge(f"with null in {column}"), kind=Kind.MISSING_TIME, values={column: None})
        if event is not None:
            board.events[event.arrival] = replace(event, time_us=None)
