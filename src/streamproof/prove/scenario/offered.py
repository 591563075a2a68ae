"""The events that a scenario offers to a job, the files they lie in, and what is known of them before anything runs.

It is the same for all the scenarios of a proof, so it is worked out once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from streamproof.prove.oracle.arrived import Arrived
from streamproof.prove.oracle.trace import event_id, hash_of
from streamproof.prove.scenario.generate import Event, Kind

_UNREADABLE = (Kind.MALFORMED, Kind.MISSING_TIME, Kind.UNPARSEABLE_TIME)


@dataclass(frozen=True)
class Mistakes:
    """What the row-wise steps of a query do to events that they should not do, by trace.

    Parameters
    ----------
    let_through
        Events that cannot be read, or have no event time, and are not rejected.
    misplaced
        Events that pass with another event time than they were made with.
    """

    let_through: Mapping[str, Event]
    misplaced: Mapping[str, Event]


@dataclass(frozen=True)
class Offered:
    """The generated events by trace, and the traces in each input file, by its base name, in their order."""

    events: Mapping[str, Event]
    traces_of_file: Mapping[str, Sequence[str]]

    @cached_property
    def by_hash(self) -> Mapping[int, str]:
        """Every event id by its hash: what names the event when a sum is off by one."""
        return {hash_of(trace): event_id(trace) for trace in self.events}

    @cached_property
    def files_of_trace(self) -> Mapping[str, tuple[str, int]]:
        """The file and row (from 1) of every trace."""
        return {trace: (name, row) for name, traces in self.traces_of_file.items() for row, trace in enumerate(traces, start=1)}

    @cached_property
    def copies(self) -> Mapping[str, Sequence[str]]:
        """The traces of every event and its copies, by the event's id."""
        found: dict[str, list[str]] = {}
        for trace in self.events:
            found.setdefault(event_id(trace), []).append(trace)
        return found

    @cached_property
    def faulty(self) -> Sequence[Event]:
        """The events that were made with something wrong in them."""
        return [event for event in self.events.values() if event.kind not in (Kind.OK, Kind.DUPLICATE)]

    @cached_property
    def edges(self) -> Sequence[str]:
        """Traces of the events that stand at an edge."""
        return [trace for trace, event in self.events.items() if event.edge is not None]

    @cached_property
    def in_no_file(self) -> Sequence[str]:
        """Traces that were written to no file."""
        return sorted(self.events.keys() - set().union(*self.traces_of_file.values()))


def mistakes(events: Mapping[str, Event], arrived: Mapping[str, Arrived]) -> Mistakes:
    """What the row-wise steps of a query did wrong; `arrived` is what they made of every record."""
    known = [(event, record) for trace, event in events.items() if (record := arrived.get(trace)) is not None]
    return Mistakes(
        {event.trace: event for event, record in known if event.kind in _UNREADABLE and record.fate != "rejected"},
        {event.trace: event for event, record in known if record.fate == "passed" and record.time_us != event.time_us},
    )
