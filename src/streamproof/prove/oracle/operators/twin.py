"""What the twin of every operator has to say of itself.

A twin is what was asked of one operator. What is in its state while a run goes on is a `State`, made anew for each run.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, TypeVar

from streamproof.prove.oracle.rows import REJECTED, Row, Side, WindowContents, WindowKey
from streamproof.prove.oracle.tables import HoldsRules, LooksUp, PlainTable
from streamproof.prove.oracle.windows import PlainWindow


class Rows(Protocol):
    """Rows of a batch query, by which the row-wise steps and the values of rows are worked out: the oracle itself knows no Spark."""

    def required(self, conditions: Iterable[tuple[str, Any]]) -> Self:
        """Those for which every condition is true; the others are rejected for the first that is not, by its reason."""

    def kept(self, condition: Any, name: str) -> Self:
        """Those for which a condition is true; the others are filtered under a name."""

    def made(self, function: Callable[[Any], Any]) -> Self:
        """What a function of the user's makes of them."""

    def looked_up(self, twin: LooksUp) -> Self:
        """Those with the columns that a lookup adds, by its twin; those that it finds no row for are unmatched, unless it keeps all."""

    def ruled(self, twin: HoldsRules) -> Self:
        """All of them, with the names of the rules that hold for each."""


OneByOne = TypeVar("OneByOne", bound=Rows)


@dataclass(frozen=True, slots=True)
class Arriving:
    """What comes to an operator by one of its inputs in a batch.

    Parameters
    ----------
    bound_us
        The late bound (R10): the watermark of the batch before, microseconds UTC.
    watermark_us
        The watermark of the batch.
    first
        Whether nothing before has decided which rows are late.
    """

    rows: Sequence[Row]
    bound_us: int
    watermark_us: int
    first: bool = True

    def parted(self, waits_us: int = 0) -> tuple[list[Row], list[Row]]:
        """The late rows and the others, where the time of a row decides; `waits_us` is how long after it a row still is not late."""

        def is_late(row: Row) -> bool:
            return self.first and row.time_us is not None and row.time_us + waits_us <= self.bound_us

        return [row for row in self.rows if is_late(row)], [row for row in self.rows if not is_late(row)]


@dataclass(frozen=True, slots=True)
class Step:
    """What an operator makes of a batch.

    Parameters
    ----------
    rows
        What goes on.
    sides
        What leaves by its side outputs.
    expanded
        Where a row can lie in several windows, the traces of each for every further one.
    new
        How many (record, window) pairs no row had before; None where that is said by `left`.
    left
        The records that are in a row and have left the state; None where they are those of the rows that go on.
    made
        The rows of side outputs that it makes: where a record is they do not say.
    """

    rows: Sequence[Row] = ()
    sides: Mapping[Side, Sequence[Row]] = field(default_factory=dict)
    expanded: Sequence[str] = ()
    new: int | None = None
    left: Sequence[str] | None = None
    made: Mapping[Side, Sequence[Row]] = field(default_factory=dict)

    @property
    def records(self) -> Sequence[str]:
        """The records that are in a row and have left the state."""
        return [trace for row in self.rows for trace in row.traces] if self.left is None else self.left

    @property
    def emitted(self) -> int:
        """How many records (or pairs) have come out by this batch."""
        return len(self.records) if self.new is None else self.new


@dataclass(frozen=True, slots=True)
class Rank:
    """What is remembered of a row so that others can be compared with it: the value that puts it in order, and its time, microseconds UTC."""

    order: Any
    time_us: int | None


@dataclass(frozen=True)
class Held:
    """What is in the state of an operator.

    Parameters
    ----------
    groups
        Windows with the records in them, whether they have given a row or not.
    keys
        Keys that are remembered, with their expiry, microseconds UTC.
    newest
        Where rows are compared with the newest of their key, what is known of that one, by key.
    waiting
        The traces of the records in it that no row has yet, once for each window that they wait in.
    ambiguous
        Keys of which the twin cannot tell which row stays: it is not promised, or goes by what the twin does not know.
    rows
        The traces of the records that are in it as they came, whether a row has them already or not.
    """

    groups: Mapping[WindowKey, WindowContents] = field(default_factory=dict)
    keys: Mapping[tuple[Any, ...], int] = field(default_factory=dict)
    newest: Mapping[tuple[Any, ...], Rank] = field(default_factory=dict)
    waiting: Sequence[str] = ()
    ambiguous: tuple[tuple[Any, ...], ...] = ()
    rows: Sequence[str] = ()


@dataclass(frozen=True)
class Pairs:
    """What rows are that are made of one row of each of two inputs, or of one of them alone: the columns that both have as one, and how much later
    than the row of the first input that of the second happens, at least and at most, microseconds.
    """

    key: tuple[str, ...]
    earliest_us: int
    latest_us: int


@dataclass(frozen=True)
class Grouped:
    """What windows are that rows are put into: their kind, the columns of their key, the aggregates over them, and whether one can give several
    rows.
    """

    window: PlainWindow
    by: tuple[str, ...] = ()
    aggregates: Mapping[str, Any] = field(default_factory=dict)
    revised: bool = False


class State(ABC):
    """What an operator does from batch to batch."""

    def begins(self, tables: Mapping[str, PlainTable]) -> None:  # noqa: B027 -- of most states nothing is there before
        """What it holds before the first batch, from what tables hold then."""

    @abstractmethod
    def step(self, *coming: Arriving) -> Step:
        """What it makes of a batch, of which this comes by each of its inputs."""

    def held(self) -> Held:
        """What is in its state now."""
        return Held()

    def fields(self) -> Mapping[tuple[Any, ...], Mapping[str, Any]] | None:
        """By key the values of declared state; None where it keeps something else."""
        return None


class Passing(State):
    """Every row goes on."""

    def step(self, *coming: Arriving) -> Step:
        return Step([row for one in coming for row in one.rows])


class Twin(ABC):  # noqa: B024 -- what a kind does not say is as it stands here
    """What was asked of one operator; each kind is made by its call, and answers whatever the rest of a proof asks."""

    keeps: ClassVar[bool] = False
    """Whether it keeps state."""
    holds: ClassVar[str] = ""
    """What its state holds, as the file about the state of a query calls it: "window", "key"."""
    makes: ClassVar[bool] = False
    """Whether its rows have columns of their own, which its twin works out; else they are rows as they came, or of windows."""
    remakes: ClassVar[bool] = False
    """Whether it makes rows anew, so that an event time can be another, or none."""

    def begin(self, delay_us: int) -> State:
        """Its state at the beginning of a run.

        Parameters
        ----------
        delay_us
            How far the watermark is behind the newest event, microseconds.
        """
        return Passing()

    def applied(self, rows: OneByOne) -> OneByOne:
        """What it makes of rows one by one, where it looks at each by itself."""
        return rows

    def leaves(self, *watermarks_us: int) -> int:
        """The watermark of what comes out, given those of what comes in."""
        return min(watermarks_us)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every reason for which it rejects a row."""
        return ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it looks rows up in, or begins with."""
        return () if self.begins_with is None else (self.begins_with,)

    @property
    def begins_with(self) -> str | None:
        """The table with its state before the first batch."""
        return None

    @property
    def leaves_out(self) -> bool:
        """Whether it rejects or filters rows for what is in them."""
        return bool(self.reasons)

    def takes_out(self, side: Side, reason: str) -> bool:
        """Whether a row that leaves by a side, for a reason, leaves here, as far as it is looked at by itself."""
        return side == REJECTED and reason in self.reasons

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        """Why a row may not come to it, which is looked at before any state; None where it may."""
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of rows that it looks at, beside the event time."""
        return ()

    @property
    def declares(self) -> tuple[str, ...]:
        """The fields that the job declares in it: no column of rows has the name of one."""
        return ()

    @property
    def lateness_us(self) -> int:
        """How much longer than the lag of a source it takes rows, microseconds."""
        return 0

    @property
    def decides(self) -> PlainWindow | None:
        """The windows by whose end it takes a row for late; None where the time of the row decides."""
        return None

    @property
    def late_by_window(self) -> bool:
        """Whether a row is late for each of its windows by itself."""
        return False

    @property
    def grouped(self) -> Grouped | None:
        """What the rows that come out of it are of; None where they are rows as they came."""
        return None

    @property
    def pairs(self) -> Pairs | None:
        """What the rows that come out of it are made of, where they are of two inputs."""
        return None

    @property
    def waits(self) -> Grouped | None:
        """The windows in which rows of a key wait for each other; None where they do not."""
        return None

    @property
    def once(self) -> tuple[str, ...]:
        """The columns by which rows are copies, of which one goes on; none where each goes on."""
        return ()

    @property
    def order(self) -> str | None:
        """The column by which it is decided which of several copies goes on."""
        return None

    @property
    def any_stays(self) -> bool:
        """Whether it is not promised which of several copies goes on."""
        return bool(self.once) and self.order is None
