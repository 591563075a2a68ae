"""What the oracle has to know of a query: its stateful part."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from streamproof.prove.oracle.windows import PlainSession, PlainWindow

Emit = Literal["final", "corrections", "early"]


@dataclass(frozen=True, slots=True)
class Clock:
    """Of one of several sources the delay of its watermark, how far its events may lie in the future, and how long it may be quiet until the
    watermark goes on without it, microseconds.
    """

    delay_us: int
    max_future_us: int | None = None
    idle_after_us: int | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """One of two windows, one behind the other: its kind, the columns that it groups by, the names of its aggregates."""

    window: PlainWindow | None = None
    by: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryShape:
    """The stateful part of a query, behind its row-wise steps.

    Parameters
    ----------
    query
        The name of the main output.
    event_time_column
        The column the watermark is taken from; None if the source has no event time.
    delay_us
        The watermark delay, lag + allowed lateness, microseconds.
    max_future_us
        How far an event may lie in the future of its batch's clock, microseconds; None where that is not asked.
    emit, lateness_us
        When windows give rows; and the allowed lateness, microseconds.
    clocks
        Of a query with several sources by source what its events go by; the delay of the query is then the longest.
    window
        The windows whose rows come out; None without.
    before
        The windows that those are made of, where they stand behind others.
    by
        The columns that windows are grouped by.
    aggregates
        The names of the aggregates.
    deduplicate
        The key columns of the deduplication; None without one.
    within_us
        How long it remembers a key behind its event time, microseconds; None where that is the delay of the query.
    order_by, keep
        The column that says which row of a key stays, and whether that is the first or the last by it; None where it is not promised.
    """

    query: str
    event_time_column: str | None = None
    delay_us: int = 0
    window: PlainWindow | None = None
    by: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    deduplicate: tuple[str, ...] | None = None
    within_us: int | None = None
    max_future_us: int | None = None
    emit: Emit = "final"
    lateness_us: int = 0
    clocks: Mapping[str, Clock] = field(default_factory=dict)
    before: Level | None = None
    order_by: str | None = None
    keep: Literal["first", "last"] | None = None

    @property
    def copies(self) -> PlainSession | None:
        """The windows that the rows of a key wait in, where a deduplication goes by an order; it always has a horizon."""
        return None if self.order_by is None or self.within_us is None else PlainSession(self.within_us)

    @property
    def decides(self) -> PlainWindow | None:
        """The windows by whose end a record is late; None where its own time decides."""
        if self.order_by is not None:
            return self.copies
        return None if self.deduplicate is not None else self.entered.window

    @property
    def entered(self) -> Level:
        """The windows that records come into: they decide what is late."""
        return self.before or Level(self.window, self.by, self.aggregates)

    @property
    def horizon_us(self) -> int:
        """How long a deduplication remembers a key behind its event time."""
        return self.delay_us if self.within_us is None else self.within_us

    def future_of(self, source: str) -> int | None:
        """How far an event of a source may lie in the future."""
        return self.clocks[source].max_future_us if source in self.clocks else self.max_future_us

    @property
    def revised(self) -> bool:
        """Whether a window can give several rows."""
        return self.emit != "final"

    @property
    def stateful(self) -> bool:
        return self.window is not None or self.deduplicate is not None
