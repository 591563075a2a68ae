"""What the user asked for: the calls of the job function, argument by argument, as they were written (R28).

The oracle starts from these, never from what the product made of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from typing import Any

from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.shape import Clock, Level, QueryShape
from streamproof.prove.oracle.windows import (
    PlainCalendar,
    PlainGap,
    PlainHopping,
    PlainSession,
    PlainShifts,
    PlainTumbling,
    PlainWindow,
)

_STATEFUL = ("deduplicate", "window")


@dataclass(frozen=True)
class Call:
    """One method that was called on a stream, with its arguments by the names of the parameters."""

    method: str
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """The calls that led from a source to an output, in order."""

    source: str
    calls: tuple[Call, ...] = ()

    def then(self, method: str, **given: Any) -> "Asked":
        return Asked(self.source, (*self.calls, Call(method, given)))

    def first(self, method: str) -> Mapping[str, Any] | None:
        """The arguments of the first call of a method; None if it was not called."""
        return next((call.given for call in self.calls if call.method == method), None)

    @property
    def branches(self) -> "tuple[Asked, ...]":
        """By source the row-wise calls that its rows take, those behind a union among them; in the order in which Spark numbers sources."""
        found: tuple[Asked, ...] = (Asked(self.source),)
        for call in self.row_wise:
            if call.method == "union":
                found = (*found, *call.given["other"].branches)
            else:
                found = tuple(Asked(branch.source, (*branch.calls, call)) for branch in found)
        return found

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(branch.source for branch in self.branches)

    @property
    def row_wise(self) -> Sequence[Call]:
        """The calls before the first stateful one."""
        number = next((number for number, call in enumerate(self.calls) if call.method in _STATEFUL), len(self.calls))
        return self.calls[:number]

    def every(self, method: str) -> Sequence[Mapping[str, Any]]:
        """The arguments of each call of a method, in order."""
        return [call.given for call in self.calls if call.method == method]

    @property
    def behind_aggregate(self) -> Sequence[Call]:
        """The calls behind the last aggregate."""
        numbers = [number for number, call in enumerate(self.calls) if call.method == "aggregate"]
        return self.calls[numbers[-1] + 1 :] if numbers else ()

    @property
    def requirements(self) -> Sequence[str]:
        """Every condition that rows must fulfil, as a rejected row names it: its text, or the name of one that is a Column; and what is said of
        gaps that are none.
        """
        required = [call.given["conditions"] for branch in self.branches for call in branch.calls if call.method == "require"]
        gaps = [] if (gap := self.gap) is None else gap.refusals
        return [*[reason_of(name, condition) for conditions in required for name, condition in conditions.items()], *gaps]

    @property
    def gap(self) -> PlainGap | None:
        """The gap that events bring to their sessions in a column; None where they bring none."""
        kinds = [plain_window(window["window"]) for window in self.every("window") if "window" in window]
        return next((kind.own for kind in kinds if isinstance(kind, PlainSession) and kind.own is not None), None)


def reason_of(name: str, condition: Any) -> str:
    """The reason of a row that does not fulfil a condition."""
    return condition if isinstance(condition, str) else name


@dataclass(frozen=True)
class AskedTime:
    """The event time of a source as its configuration file says it: the column, and durations as they are written there."""

    column: str
    lag: str | timedelta = timedelta()
    max_future: str | timedelta | None = None
    idle_after: str | timedelta | None = None


def shape_asked(
    query: str, asked: Asked, time: AskedTime | None, others: Mapping[str, AskedTime | None] | None = None
) -> QueryShape:
    """The stateful part of a query, from the user's calls and file.

    Parameters
    ----------
    time
        The event time of the source; of a union that of the first one.
    others
        Of a union those of all its sources.

    Raises
    ------
    ValueError
        If a duration cannot be read.
    """
    windows, aggregates, deduplicate = asked.every("window"), asked.every("aggregate"), asked.first("deduplicate")
    levels = [
        Level(plain_window(window["window"]), _names(window["by"]), tuple(aggregate["aggregates"]))
        for window, aggregate in zip_longest(windows, aggregates, fillvalue={"aggregates": ()})
    ]
    last = levels[-1] if levels else Level()
    lateness = max((micros(window["allowed_lateness"]) for window in windows), default=0)
    clocks = {source: _clock(one, lateness) for source, one in (others or {}).items()}
    delay_us = (micros(time.lag) if time else 0) + lateness
    return QueryShape(
        query=query,
        event_time_column=time.column if time else None,
        delay_us=max((clock.delay_us for clock in clocks.values()), default=delay_us),
        window=last.window,
        by=last.by,
        aggregates=last.aggregates,
        before=levels[0] if len(levels) > 1 else None,
        deduplicate=tuple(deduplicate["key"]) if deduplicate else None,
        within_us=_optional((deduplicate or {}).get("within")),
        order_by=(deduplicate or {}).get("order_by"),
        keep=(deduplicate or {}).get("keep"),
        max_future_us=_future(time),
        clocks=clocks,
        emit=windows[-1].get("emit", "final") if windows else "final",
        lateness_us=lateness,
    )


def _names(by: Any) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(by)


def _clock(time: AskedTime | None, lateness: int) -> Clock:
    """What the events of one of several sources go by."""
    if time is None:
        return Clock(lateness)
    return Clock(micros(time.lag) + lateness, _future(time), None if time.idle_after is None else micros(time.idle_after))


def _future(time: AskedTime | None) -> int | None:
    return _optional(time.max_future) if time else None


def _optional(written: str | timedelta | None) -> int | None:
    return None if written is None else micros(written)


@dataclass(frozen=True)
class WrittenWindow:
    """A window as the user wrote it: what was called, and with which arguments."""

    kind: str
    given: Mapping[str, Any]


def plain_window(window: Any) -> PlainWindow:
    """The twin of a window, from what was written; a window that the job got ready-made has only what it was read as.

    Raises
    ------
    ValueError
        If a duration cannot be read, or the kind is not known.
    """
    written = getattr(window, "written", None) or WrittenWindow(type(window).__name__.lower(), vars(window))
    given = written.given
    match written.kind:
        case "tumbling":
            return PlainTumbling(micros(given["size"]), micros(given.get("offset", timedelta())))
        case "hopping":
            return PlainHopping(micros(given["size"]), micros(given["every"]), micros(given.get("offset", timedelta())))
        case "session":
            longest, gap = given.get("longest"), given["gap"]
            own = None if isinstance(gap, str | timedelta) else _plain_gap(gap)
            return PlainSession(own.at_most_us if own else micros(gap), None if longest is None else micros(longest), own)
        case "calendar":
            return PlainCalendar(given["unit"], given["zone"])
        case "shifts":
            return PlainShifts(tuple(given["times"]), given["zone"])
    raise ValueError(f"no twin of a window of the kind {written.kind}")


def _plain_gap(gap: Any) -> PlainGap:
    """The twin of a gap by a column, from what was written."""
    written = getattr(gap, "written", None)
    given = written.given if written is not None else vars(gap)
    return PlainGap(given["column"], micros(given["at_most"]))
