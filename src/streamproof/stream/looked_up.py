"""A table that rows are looked up in, as a plan has it, and what an operator asks of it."""

from dataclasses import dataclass
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
    """

    rows: "DataFrame"
    valid_from: str | None = None
    valid_to: str | None = None


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
    """

    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    at_instant: bool = False
