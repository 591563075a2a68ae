"""A table that rows are looked up in, as a plan has it, and what an operator asks of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class TableRows:
    """The rows of a table, and between which instants each holds.

    Parameters
    ----------
    rows
        In a stream those of the version that each batch uses.
    valid_from, valid_to
        The columns (TIMESTAMP) that say it; None where rows hold at all times, or to this day.
    fold
        Makes the rows of the table from records that are changes; None where each is a row.
    unread
        How many records cannot be read, and are left out.
    """

    rows: "DataFrame"
    valid_from: str | None = None
    valid_to: str | None = None
    fold: "Callable[[DataFrame], DataFrame] | None" = None
    unread: int = 0

    @property
    def current(self) -> "DataFrame":
        """The rows of the table, where its records are changes."""
        return self.rows if self.fold is None else self.fold(self.rows)


@dataclass(frozen=True)
class Use:
    """What an operator takes from a table: at most one row for each key, at any instant where it asks for the row of one.

    Parameters
    ----------
    table
        The name of [table.NAME].
    key
        The columns of the table by which a row is found.
    columns
        Those that it adds to a row of the stream; None for all of them.
    at_instant
        Whether it asks for the row that holds at an instant.
    call
        How errors call the operator.
    """

    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    at_instant: bool = False
    call: str = field(default="", compare=False)


@dataclass(frozen=True)
class Conditions:
    """Conditions in SQL that a table has: which are none over the columns of the stream is found when the table is read.

    Parameters
    ----------
    rule, when
        The columns of the table with the name of a rule, and with its condition.
    columns
        The columns of the stream, as the JSON of their type.
    """

    rule: str
    when: str
    columns: str
