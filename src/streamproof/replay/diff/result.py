"""What a comparison has found, as data: counts, the columns that differ, the sums of both sides, and some rows to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What is wrong with a row."""

    ONLY_A = "only-in-a"
    ONLY_B = "only-in-b"
    DIFFERENT = "different"


class Apart(StrEnum):
    """Why a column is not compared value by value."""

    ONLY_A = "only-in-a"
    ONLY_B = "only-in-b"
    OTHER_TYPES = "other-types"


@dataclass(frozen=True)
class Column:
    """A column that the sides do not share: its name, its types, and why."""

    name: str
    why: Apart
    types: tuple[str, str]


@dataclass(frozen=True)
class ColumnDifference:
    """A column in which rows with the same key differ: in how many, and of numbers by how much at most."""

    name: str
    rows: int
    largest: float | None


@dataclass(frozen=True)
class Sum:
    """The sum of a column of numbers on each side; None where it is too large, or there is nothing to add."""

    column: str
    a: Decimal | float | None
    b: Decimal | float | None

    @property
    def difference(self) -> Decimal | float | None:
        """B less A."""
        if self.a is None or self.b is None:
            return None
        if isinstance(self.a, Decimal) and isinstance(self.b, Decimal):
            return self.b - self.a
        return float(self.b) - float(self.a)


@dataclass(frozen=True)
class ShownRow:
    """A row to look at.

    Parameters
    ----------
    kind
        What is wrong with it.
    key
        The values of its key; empty where it is compared without one.
    a, b
        The values on each side: of a row with the same key those that differ, of one that is on one side only all beside the key.
    """

    kind: Kind
    key: Mapping[str, Any]
    a: Mapping[str, Any]
    b: Mapping[str, Any]


@dataclass(frozen=True)
class Counts:
    """How many rows of an output are alike.

    Parameters
    ----------
    rows
        How many rows each side has.
    same
        Rows of A that have their equal in B.
    only_a, only_b, different
        Rows that are on one side only, and pairs with the same key and other values.
    several
        Keys with several rows, of A and of B.
    """

    rows: tuple[int, int]
    same: int
    only_a: int
    only_b: int
    different: int
    several: tuple[int, int]


@dataclass(frozen=True)
class OutputDiff:
    """How one output of A compares with that of B.

    Parameters
    ----------
    name
        Of the output; "" where each side is one.
    places
        Where the rows of A and of B lie.
    apart
        Columns that are not compared value by value.
    shown
        At most so many rows of each kind as were asked for.
    """

    name: str
    places: tuple[str, str]
    key: Sequence[str]
    columns: Sequence[str]
    counts: Counts
    apart: Sequence[Column]
    by_column: Sequence[ColumnDifference]
    sums: Sequence[Sum]
    shown: Sequence[ShownRow]
    notes: Sequence[str] = ()

    @property
    def is_same(self) -> bool:
        return not (self.counts.only_a or self.counts.only_b or self.counts.different or self.apart)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "a": self.places[0],
            "b": self.places[1],
            "same": self.is_same,
            "key": list(self.key),
            "columns": list(self.columns),
            "rows": {"a": self.counts.rows[0], "b": self.counts.rows[1], "same": self.counts.same},
            "only_in_a": self.counts.only_a,
            "only_in_b": self.counts.only_b,
            "different": self.counts.different,
            "keys_with_several_rows": {"a": self.counts.several[0], "b": self.counts.several[1]},
            "columns_apart": [{"name": one.name, "why": one.why.value, "a": one.types[0], "b": one.types[1]} for one in self.apart],
            "by_column": [{"name": one.name, "rows": one.rows, "largest": one.largest} for one in self.by_column],
            "sums": [
                {"column": one.column, "a": plain(one.a), "b": plain(one.b), "difference": plain(one.difference)}
                for one in self.sums
            ],
            "shown": [
                {
                    "kind": row.kind.value,
                    "key": {name: plain(value) for name, value in row.key.items()},
                    "a": {name: plain(value) for name, value in row.a.items()},
                    "b": {name: plain(value) for name, value in row.b.items()},
                }
                for row in self.shown
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Diff:
    """How two sides compare: their outputs, and those that one side has alone."""

    a: str
    b: str
    tolerance: float
    outputs: Sequence[OutputDiff]
    only_a: Sequence[str] = field(default_factory=tuple)
    only_b: Sequence[str] = field(default_factory=tuple)

    @property
    def is_same(self) -> bool:
        return not self.only_a and not self.only_b and all(one.is_same for one in self.outputs)

    def as_dict(self) -> dict[str, Any]:
        """For programs; a decimal that a float does not hold is a text."""
        return {
            "a": self.a,
            "b": self.b,
            "same": self.is_same,
            "tolerance": self.tolerance,
            "outputs": [one.as_dict() for one in self.outputs],
            "outputs_only_in_a": list(self.only_a),
            "outputs_only_in_b": list(self.only_b),
        }


def plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, Decimal):
        if value == value.to_integral_value() and abs(value) < 2**53:
            return int(value)
        return float(value) if Decimal(str(float(value))) == value else str(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value
