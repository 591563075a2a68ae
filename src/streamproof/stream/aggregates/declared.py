"""What a declared aggregate has to say of itself."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.stream.expressions import expression

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Expression:
    """A SQL text of a declared aggregate: in which part it stands, and what it may name: columns of the rows, and names of its own."""

    part: str
    text: str
    of_rows: bool = True
    own: tuple[str, ...] = ()


class Declared(ABC):
    """An aggregate that becomes a column once the rows are known that it is over."""

    @abstractmethod
    def column(self, name: str, rows: "DataFrame") -> "Column":
        """The aggregate over rows.

        Parameters
        ----------
        name
            What the job calls it, for errors.

        Raises
        ------
        JobDefinitionError
            If one of its expressions does not fit the rows.
        """

    def expressions(self) -> Sequence[Expression]:
        """Its SQL texts, so that `check` finds a name that is not there before Spark runs."""
        return ()

    @abstractmethod
    def __str__(self) -> str:
        """The declaration in one line, the same in each process: a checkpoint names it (R25)."""


Aggregates = Mapping[str, "Column | Declared"]
"""Aggregates of a job by their names."""


def columns_of(aggregates: Aggregates, rows: "DataFrame") -> dict[str, "Column"]:
    """All of them as columns over rows."""
    return {name: one.column(name, rows) if isinstance(one, Declared) else one for name, one in aggregates.items()}


def said_of(aggregate: "Column | Declared") -> str:
    """An aggregate as it was written, the same in each process."""
    return str(aggregate) if isinstance(aggregate, Declared) else expression(aggregate)
