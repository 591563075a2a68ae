"""What every operator has to say of itself."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from datetime import timedelta

    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class EventTimeColumn:
    """The event-time column (TIMESTAMP, UTC) of a source and its lag."""

    column: str
    lag: "timedelta"


@dataclass(frozen=True)
class Mention:
    """What an operator says of columns: names of them (`exact`), or conditions and aggregates that have them in them."""

    where: str
    columns: Sequence[Any]
    exact: bool = False


class Operator(ABC):
    """One step of a stream: what the user asked for, and the plan that it becomes."""

    keeps_state: ClassVar[bool] = False
    """Whether a row is held against others; then the operator is by event time, and behind the late door."""

    @abstractmethod
    def streaming(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """What it makes of streaming rows.

        Parameters
        ----------
        event_time
            The event-time column; empty where the source has none and the operator keeps no state.
        """

    def mentioned(self) -> Sequence[Mention]:
        """The columns that it names, so that `check` finds one that is not there before Spark runs."""
        return ()


class Stateful(Operator):
    """An operator that keeps state; `name` is what a checkpoint calls it."""

    name: ClassVar[str]
    keeps_state: ClassVar[bool] = True

    @property
    def multiplies(self) -> bool:
        """Whether `ready` makes several rows of one."""
        return False

    @abstractmethod
    def ready(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The rows as the operator takes them, one for each thing that it holds; called before `divert`, or behind an earlier operator."""

    @abstractmethod
    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The rows without the late ones, where this is the first operator with state (R10)."""

    @abstractmethod
    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        """What its state is made by, part by part, as people read them (R25).

        Parameters
        ----------
        rows
            What reaches the first operator with state: types of keys and aggregates are taken from it.
        """


def typed(rows: "DataFrame", names: tuple[str, ...]) -> str:
    """Columns with their types, "client string, amount double"."""
    return ", ".join(f"{name} {rows.schema[name].dataType.simpleString()}" for name in names) or "none"
