"""Compares two sides row by row, on Spark: what is equal cancels out, and only what is left over is paired.

1. The rows of both sides are grouped by all their columns and counted. Equal rows, repeated ones too, cancel out.
2. What is left over is paired: by the key, or, without one, by the columns that must be equal to the last digit. Of several rows with the same key
   the first is paired with the first, in the order of their other columns.
3. Of a pair each column is compared, numbers within the tolerance. A row without a partner is on one side only.

The driver collects counts, and the rows that are shown.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType, IntegralType

from streamproof.connectors.json_records import WRITTEN
from streamproof.replay.diff.columns import Compared, named
from streamproof.replay.diff.result import ColumnDifference, Kind, ShownRow, Sum

_A, _B, _SIDE, _PLACE, _KIND, _OF_A, _OF_B = (
    f"_streamproof_{name}" for name in ("a", "b", "side", "place", "kind", "of_a", "of_b")
)
"""Columns beside those of the rows."""


@dataclass(frozen=True)
class Wanted:
    """How rows are compared.

    Parameters
    ----------
    key
        The columns that say which rows belong together; none compares rows as they are, each as often as it is there.
    tolerance
        How far two numbers may be apart, relative to the larger one, or absolutely.
    loose
        The columns that it holds for.
    shown
        So many rows of each kind are collected.
    """

    key: Sequence[str]
    tolerance: float
    loose: Sequence[str]
    shown: int


@dataclass(frozen=True)
class Found:
    """What the rows say."""

    only_a: int
    only_b: int
    different: int
    by_column: Sequence[ColumnDifference]
    shown: Sequence[ShownRow]


def newest_of(rows: DataFrame, key: Sequence[str], column: str, *, texts: bool = False) -> DataFrame:
    """Of the rows with the same key the one with the highest value in a column, without that column; texts that are numbers count as such."""
    order = [named(column).try_cast("double").desc_nulls_last()] if texts else []
    last = Window.partitionBy(*map(named, key)).orderBy(*order, named(column).desc_nulls_last())
    return rows.withColumn(_PLACE, F.row_number().over(last)).where(F.col(_PLACE) == 1).drop(_PLACE, column)


def with_several(rows: DataFrame, key: Sequence[str]) -> int:
    """How many keys have more than one row."""
    if not key:
        return 0
    return rows.groupBy(*map(named, key)).agg(F.count(F.lit(1)).alias(_PLACE)).where(F.col(_PLACE) > 1).count()


def compared_rows(a: DataFrame, b: DataFrame, columns: Sequence[Compared], wanted: Wanted) -> Found:
    """What is only in A, only in B, and different.

    Parameters
    ----------
    a, b
        Both with the compared columns, of the same types.
    """
    names = [column.name for column in columns]
    loose = [name for name in names if name in wanted.loose]
    by = list(wanted.key) or [name for name in names if name not in loose]
    others = [name for name in names if name not in by]
    left_over = _left_over(a, b, names)
    pairs = _pairs(left_over, by, others) if others else _unpaired(left_over, by)
    differs = {name: _differs(name, wanted.tolerance if name in loose else None) for name in others}
    any_differs = F.lit(False)
    for one in differs.values():
        any_differs = any_differs | one
    is_pair = F.col(_OF_A).isNotNull() & F.col(_OF_B).isNotNull()
    kind = F.when(F.col(_OF_B).isNull(), F.lit(Kind.ONLY_A.value)).when(F.col(_OF_A).isNull(), F.lit(Kind.ONLY_B.value))
    pairs = pairs.where(~is_pair | any_differs).withColumn(_KIND, kind.otherwise(F.lit(Kind.DIFFERENT.value)))
    pairs = pairs.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        return _looked_at(pairs, by, differs, [column for column in columns if column.number], wanted)
    finally:
        pairs.unpersist()


def _left_over(a: DataFrame, b: DataFrame, names: Sequence[str]) -> DataFrame:
    """The rows that the other side lacks, each as often as it lacks it, with their side."""
    one, none = F.lit(1).cast("long"), F.lit(0).cast("long")
    both = a.withColumns({_A: one, _B: none}).unionByName(b.withColumns({_A: none, _B: one}))
    counted = both.groupBy(*map(named, names)).agg(F.sum(_A).alias(_A), F.sum(_B).alias(_B))
    more = F.col(_A) - F.col(_B)
    uneven = counted.where(more != 0).withColumn(_SIDE, F.when(more > 0, F.lit("a")).otherwise(F.lit("b")))
    return uneven.withColumn(_PLACE, F.explode(F.sequence(F.lit(1).cast("long"), F.abs(more)))).drop(_A, _B, _PLACE)


def _pairs(left_over: DataFrame, by: Sequence[str], others: Sequence[str]) -> DataFrame:
    """Rows with the same key beside each other: the columns of the key, and a struct of the others for each side."""
    ordered = Window.partitionBy(_SIDE, *map(named, by)).orderBy(*map(named, others))
    placed = left_over.withColumn(_PLACE, F.row_number().over(ordered))
    rest = F.struct(*map(named, others))
    return placed.groupBy(*map(named, by), _PLACE).agg(
        F.first(F.when(F.col(_SIDE) == "a", rest), ignorenulls=True).alias(_OF_A),
        F.first(F.when(F.col(_SIDE) == "b", rest), ignorenulls=True).alias(_OF_B),
    )


def _unpaired(left_over: DataFrame, by: Sequence[str]) -> DataFrame:
    """Every row alone: there is nothing but the key."""
    there = F.struct(F.lit(1).alias("there"))
    return left_over.select(
        *map(named, by),
        F.when(F.col(_SIDE) == "a", there).alias(_OF_A),
        F.when(F.col(_SIDE) == "b", there).alias(_OF_B),
    )


def _differs(name: str, tolerance: float | None) -> Expression:
    """Whether the column of a pair differs; two nulls do not, nor do two that are no number."""
    mine, theirs = F.col(_OF_A).getField(name), F.col(_OF_B).getField(name)
    if tolerance is None:
        return ~mine.eqNullSafe(theirs)
    one, other = mine.cast("double"), theirs.cast("double")
    apart = F.abs(one - other)
    room = F.greatest(F.abs(one), F.abs(other), F.lit(1.0)) * F.lit(tolerance)
    return ~(mine.eqNullSafe(theirs) | F.coalesce(apart <= room, F.lit(False)))


def _looked_at(
    pairs: DataFrame, by: Sequence[str], differs: Mapping[str, Expression], numbers: Sequence[Compared], wanted: Wanted
) -> Found:
    is_different = F.col(_KIND) == Kind.DIFFERENT.value
    sizes = {column.name: _apart(column.name) for column in numbers if column.name in differs}
    counts = [F.count_if(F.col(_KIND) == kind.value).alias(kind.value) for kind in Kind]
    rows = [F.count_if(is_different & one).alias(f"rows {name}") for name, one in differs.items()]
    largest = [F.max(F.when(is_different, size)).alias(f"largest {name}") for name, size in sizes.items()]
    (counted,) = pairs.agg(*counts, *rows, *largest).collect()
    only_a, only_b, different = (int(counted[kind.value]) for kind in Kind)
    shown = list(_shown(pairs, by, differs, wanted))
    if not wanted.key:  # without a key two rows that differ are two rows
        only_a, only_b, different, by_column = only_a + different, only_b + different, 0, []
    else:
        by_column = [
            ColumnDifference(name, int(counted[f"rows {name}"]), counted[f"largest {name}"] if name in sizes else None)
            for name in differs
            if counted[f"rows {name}"]
        ]
    return Found(only_a, only_b, different, sorted(by_column, key=lambda one: -one.rows), shown)


def _apart(name: str) -> Expression:
    return F.abs(F.col(_OF_B).getField(name).cast("double") - F.col(_OF_A).getField(name).cast("double"))


def _shown(pairs: DataFrame, by: Sequence[str], differs: Mapping[str, Expression], wanted: Wanted) -> Iterator[ShownRow]:
    if not wanted.shown:
        return
    key = F.to_json(F.struct(*map(named, by)), dict(WRITTEN)) if by else F.lit("{}")
    which = F.array_compact(F.array(*(F.when(one, F.lit(name)) for name, one in differs.items()))) if differs else F.array()
    for kind in Kind:
        some = pairs.where(F.col(_KIND) == kind.value).orderBy(*map(named, by)).limit(wanted.shown)
        found = some.select(
            key.alias("key"),
            F.to_json(_OF_A, dict(WRITTEN)).alias("a"),
            F.to_json(_OF_B, dict(WRITTEN)).alias("b"),
            which.cast("array<string>").alias("which"),
        )
        for row in found.collect():
            yield from _rows_shown(kind, row, wanted)


def _rows_shown(kind: Kind, row: Any, wanted: Wanted) -> Iterator[ShownRow]:
    key, a, b = (_read(row[name]) for name in ("key", "a", "b"))
    for side in (a, b):
        side.pop("there", None)
    if not wanted.key:
        if kind is not Kind.ONLY_B:
            yield ShownRow(Kind.ONLY_A, {}, {**key, **a}, {})
        if kind is not Kind.ONLY_A:
            yield ShownRow(Kind.ONLY_B, {}, {}, {**key, **b})
        return
    if kind is Kind.DIFFERENT:
        a, b = ({name: side.get(name) for name in row["which"]} for side in (a, b))
    yield ShownRow(kind, key, a, b)


def _read(text: str | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text, parse_float=Decimal) if text else {}
    return found


def count_and_sums(rows: DataFrame, columns: Sequence[Compared], key: Sequence[str]) -> tuple[int, dict[str, Any]]:
    """How many rows there are, and the sums of the columns of numbers that are not in the key; exact but for floats, None where one is too large."""
    added = [column.name for column in columns if column.number and column.name not in key]
    types = {field.name: field.dataType for field in rows.schema.fields}
    sums = [F.try_sum(_addable(name, types[name])).alias(f"sum {name}") for name in added]
    (found,) = rows.agg(F.count(F.lit(1)).alias("rows"), *sums).collect()
    return int(found["rows"]), {name: found[f"sum {name}"] for name in added}


def _addable(name: str, type_: Any) -> Expression:
    if isinstance(type_, IntegralType):
        return named(name).cast(DecimalType(20, 0))
    return named(name) if isinstance(type_, DecimalType) else named(name).cast("double")


def sums_of(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Sum]:
    return [Sum(name, a[name], b[name]) for name in a]
