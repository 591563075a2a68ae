"""Rows as they go through the tree of a query: which records each is of, and what is known of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.prove.oracle.trace import Vector

Side = tuple[str, str]
"""A side output of an operator: its kind, which is a place of the account, and its name where there are several of the kind."""

LATE: Side = ("late", "")
DUPLICATE: Side = ("duplicate", "")
UNMATCHED = "unmatched"
"""The kind of side by which rows leave that no partner was found for: in a table, or in another stream."""
REJECTED: Side = ("rejected", "")
FILTERED: Side = ("filtered", "")
UNKNOWN: Side = ("unknown", "")
"""No side output, and no place: by it go records that a plain transform has lost."""

WindowKey = tuple[tuple[Any, ...], int]
"""The values of the key columns, and the window's start in microseconds UTC."""

RowKey = tuple[WindowKey, int]
"""A window, and the number of one of its rows: 0 where it gives one only."""


@dataclass(frozen=True, slots=True)
class WindowContents:
    """The events in a window: how many, the sum of their hashes, and their traces in the order they came; and its end, microseconds UTC.

    Of a window of windows `parts` are those that went into it. Where rows are of several records, `rows` has what each is known by.
    """

    count: int
    hash: int
    traces: tuple[str, ...]
    end_us: int
    parts: "tuple[tuple[WindowKey, WindowContents], ...]" = ()
    rows: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        """What each of its rows is known by: a record by its trace, a row of several by all of theirs."""
        return self.rows or self.traces

    @property
    def vector(self) -> Vector:
        return Vector(self.count, self.hash)


@dataclass(frozen=True, slots=True)
class Group:
    """What a row is that is made of many: its window, what that held, and which of the rows of the window it is."""

    key: WindowKey
    contents: WindowContents
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A row.

    Parameters
    ----------
    traces
        The records that it is of: one at first, two after a join, many of a window.
    time_us
        When it happened, microseconds UTC; None if that is not known.
    values
        Its values of the columns that operators look at, made plain.
    group
        The window that it is of, where it is of one.
    """

    traces: tuple[str, ...]
    time_us: int | None
    values: Mapping[str, Any]
    group: Group | None = None
