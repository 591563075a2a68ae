"""What every operator has to say of itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from streamproof.core.opened import Opened
from streamproof.core.sides import LATE, REJECTED, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.emissions import Emission, Final
from streamproof.stream.known import Known, Look, Mention
from streamproof.stream.looked_up import Use

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class EventTimeColumn:
    """The event-time column (TIMESTAMP, UTC) of a source and its lag."""

    column: str
    lag: "timedelta"


@dataclass(frozen=True)
class Exercise:
    """What a record must do here at least once: where none does it, a proof says nothing of it (R29).

    Parameters
    ----------
    place
        Where such records are by the account, or "revision" of those that change a row that is out.
    name
        Which of several, such as that of a filter.
    called
        What a report calls it, "filter" of "filter-not-exercised"; most are called by what they are, a place.
    missing
        The sentence where it did not happen; `{query}` stands for the output.
    remedy
        What to write in the scenario so that it does; `{source}` stands for the source.
    """

    place: str
    missing: str
    remedy: str
    name: str = ""
    called: str = "place"


class Operator(ABC):  # noqa: B024 -- what a kind does not say is as it stands here
    """What a node of a query does: what the user asked for, and the plan that it becomes."""

    rejects: ClassVar[bool] = False
    """Whether a record can leave by the rejected output here."""

    @property
    def users_code(self) -> str:
        """How errors call the function of the user's that it runs; empty where it runs none."""
        return ""

    @property
    def functions(self) -> Sequence[Callable[..., Any]]:
        """The functions of the user's that it runs."""
        return ()

    @property
    def sides(self) -> Sequence[Side]:
        """The side outputs by which records leave here."""
        return (REJECTED,) if self.rejects else ()

    @property
    def uses(self) -> Sequence[Use]:
        """The tables that it looks rows up in."""
        return ()

    def exercises(self) -> Sequence[Exercise]:
        """What records must do here in a proof."""
        return ()

    def mentioned(self) -> Sequence[Mention]:
        """The columns that it names, so that `check` finds one that is not there before Spark runs."""
        return ()

    def columns(self, known: Known, look: Look) -> Known:
        """The columns of what comes out, as far as they are known without Spark; what it names is looked at on the way."""
        look.mentions(self.mentioned(), known)
        return known

    def columns_of_all(self, coming: Sequence[Known], look: Look) -> Known:
        """The same for an operator with several inputs, from the columns of each."""
        return self.columns(coming[0], look)


class RowWise(Operator):
    """An operator that looks at each row by itself."""

    @abstractmethod
    def streaming(self, rows: "DataFrame", doors: "Doors") -> "DataFrame":
        """What it makes of rows, in front of the first operator that keeps state."""

    def after_state(self, rows: "DataFrame") -> "DataFrame":
        """What it makes of the rows of an operator with state, whose hidden columns stay.

        Most operators are refused there when the job function calls them.
        """
        raise NotImplementedError(f"{type(self).__name__} stands behind state")

    def is_same(self, other: Operator) -> bool:
        """Whether another one does the same. By identity: comparing PySpark columns with == builds an expression."""
        return self is other


@dataclass(frozen=True)
class Kept:
    """What an operator with state gives, and the column that says when a row happened (TIMESTAMP)."""

    rows: "DataFrame"
    time: str


class Stateful(Operator):
    """An operator that keeps state: a row is held against others, by event time, behind the late door. `name` is what a checkpoint calls it.

    It has one input or several; what has one is a `OneInput`.
    """

    name: ClassVar[str]
    call: ClassVar[str]
    """How errors call it: by the call that asks for it."""
    sums: ClassVar[bool] = False
    """Whether values that come out depend on the order in which rows are added up."""
    ends: ClassVar[str] = ""
    """What did not come where no row came out, "no window came to its end"; empty where rows pass at once."""
    open_are: ClassVar[Opened | None] = None
    """What is open in its state, as the end of a run says it; None where the state holds no record that has not come out."""

    holds_rows: ClassVar[bool] = False
    """Whether its state holds the rows themselves, one of which leaves by nothing that could be counted: what has come out is then what has gone
    in and is no longer there.
    """

    @property
    def sides(self) -> Sequence[Side]:
        return (LATE,)

    @property
    def emission(self) -> Emission:
        """When its rows come out."""
        return Final()

    @property
    def allowed_lateness(self) -> timedelta:
        """How much longer than the lag of a source it takes rows."""
        return timedelta()

    @property
    def waits(self) -> timedelta:
        """How much longer than the watermark's delay a record may take and not be late, where that is of the operator itself."""
        return timedelta()

    @property
    def for_ever(self) -> str:
        """What its state never forgets, in words, "what it keeps of each card"; empty where time frees all that it holds."""
        return ""

    @property
    def grouped_by(self) -> Sequence[str]:
        """The columns by whose values its rows come together in one task; none where all rows do."""
        return ()

    @property
    def settings(self) -> Mapping[str, str]:
        """What Spark is told for its sake: settings of the session of its query."""
        return {}

    @property
    def known_to_leave(self) -> bool:
        """Whether our state stores know what leaves its state next; else Spark looks at all that is in it, in each batch."""
        return True

    @property
    def multiplies(self) -> bool:
        """Whether `ready` makes several rows of one."""
        return False

    def refuses(self, method: str) -> JobDefinitionError | None:
        """Why a step may not take its rows, "transform()" or "window()"; None where it may."""
        return None

    def requires(self) -> Sequence[RowWise]:
        """What rows must fulfil for it, looked at before anything is in state."""
        return ()

    def counted(self, *, rows: int, records: int) -> dict[str, int]:
        """Where the records are whose rows came out, by place; `records` is what the hidden counts of the rows add up to.

        Of an operator that holds rows it is another number, see `runtime/batch/held.py`.
        """
        return {"emitted": rows}

    def ready(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The rows as the operator takes them, one for each thing that it holds; called before `divert`, or behind an earlier operator."""
        return rows

    @abstractmethod
    def admit(self, number: int, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The rows of one of its inputs, by its number, without the late ones, where this is the first operator with state (R10)."""

    @abstractmethod
    def meet(self, coming: Sequence[Kept], doors: "Doors", *, followed: bool) -> Kept:
        """What comes out of it, from what comes by each input; `followed` says whether another operator with state stands behind it."""

    @abstractmethod
    def state_of(self, coming: "Sequence[DataFrame]") -> Mapping[str, str]:
        """What its state is made by, part by part, as people read them (R25).

        Parameters
        ----------
        coming
            What comes by each input: types of keys and aggregates are taken from it.
        """


class OneInput(Stateful):
    """An operator that keeps state of the rows of one input."""

    @abstractmethod
    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The rows without the late ones, where this is the first operator with state (R10)."""

    @abstractmethod
    def hold(self, rows: "DataFrame", event_time: str, doors: "Doors", *, followed: bool) -> Kept:
        """What comes out of it; `followed` says whether another operator with state stands behind it."""

    @abstractmethod
    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        """What its state is made by, as `state_of` says it."""

    def admit(self, number: int, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return self.divert(rows, event_time, doors)

    def meet(self, coming: Sequence[Kept], doors: "Doors", *, followed: bool) -> Kept:
        (one,) = coming
        return self.hold(one.rows, one.time, doors, followed=followed)

    def state_of(self, coming: "Sequence[DataFrame]") -> Mapping[str, str]:
        (rows,) = coming
        return self.made_by(rows)


def typed(rows: "DataFrame", names: tuple[str, ...]) -> str:
    """Columns with their types, "client string, amount double"."""
    return ", ".join(f"{name} {rows.schema[name].dataType.simpleString()}" for name in names) or "none"
