"""The events of a source as edges take their places: where there is room, and what may not move."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.query import Query
from streamproof.prove.scenario.generate import Edge, Event, Kind, record_of
from streamproof.prove.scenario.intents import refused
from streamproof.prove.scenario.scenario import SourceScenario
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
    queries
        The queries of the source that keep state, each with the late bound of every batch, microseconds, as `late_bounds` gives it.
    never_null
        Columns that have no null beside those that cannot: keys of a union that another of its sources already has a null in. Of two events
        with a null in the key, in one batch, either could stay.
    name
        The name of the source, which queries with several have among theirs.
    others
        By source the events of those that have their edges already.
    """

    plan: SourceScenario
    source: SourceShape
    ddl: str = ""
    time: AskedTime | None = None
    queries: Sequence[tuple[Query, Sequence[int]]] = ()
    never_null: Collection[str] = ()
    name: str = ""
    others: Mapping[str, Sequence[Event]] = field(default_factory=dict)


def newest_of(events: Sequence[Event], time: AskedTime | None) -> dict[int, int]:
    """By batch the newest event time, microseconds, that the watermark will see."""
    newest: dict[int, int] = {}
    for event in events:
        passes = event.kind is not Kind.INVALID and not refused(event, time, time_is_text=True)
        if passes and event.time_us is not None:
            newest[event.batch] = max(newest.get(event.batch, event.time_us), event.time_us)
    return newest


@dataclass
class Board:
    """The events as they become; a place is taken once, and never that of a copy, of its event, or of the newest event of a batch."""

    events: list[Event]
    around: Around
    left: int = field(init=False)
    newest: dict[int, int] = field(init=False)
    _places: dict[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.left = len(self.events) // _ONE_IN
        self.newest, self._places = newest_of(self.events, self.around.time), {}
        copied = {event.event_id for event in self.events if event.kind is Kind.DUPLICATE}
        for place, event in enumerate(self.events):
            free = event.kind is Kind.OK and event.event_id not in copied and event.time_us is not None
            if free and event.time_us != self.newest[event.batch]:
                self._places.setdefault(event.batch, []).append(place)

    @property
    def batches(self) -> int:
        return self.events[-1].batch + 1 if self.events else 0

    @property
    def promises_no_order(self) -> bool:
        """Whether a query of the source deduplicates without an order: of different events of a key in one batch, any may stay there."""
        return any(query.any_stays for query, _ in self.around.queries)

    @property
    def tick_us(self) -> int:
        """The shortest time between two events of the source, microseconds."""
        return self.around.source.tick_us

    def moved(self) -> Iterator[tuple[Query, int, int]]:
        """Each query with the last batch, if its late bound has moved there, and the bound: only then can an event be late."""
        batch = self.batches - 1
        if batch < 2 or self.around.plan.time_column is None or self.around.time is None:
            return
        for query, bounds in self.around.queries:
            if bounds[batch] > bounds[batch - 1]:
                yield query, batch, bounds[batch]

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
        if time_us is not None and (time_us % self.tick_us or time_us > self.newest.get(batch, time_us)):
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


def _remade(event: Event, values: Mapping[str, Any], around: Around, time_us: int | None) -> Event:
    """The event with these values, another time if one is given, and the record that says so."""
    changed = dict(values)
    if time_us is not None:
        event = replace(event, time_us=time_us)
        if around.plan.time_column is not None:
            changed[around.plan.time_column] = around.source.written(time_us)
    return replace(event, values=changed, record=record_of(event.trace, as_texts(changed)))


def as_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """The values as they stand in a line of JSON."""
    return {name: _text(value) for name, value in values.items()}


def _text(value: Any) -> str:
    return json.dumps(value.isoformat() if isinstance(value, datetime) else value, ensure_ascii=False)
