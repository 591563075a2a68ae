"""The sums of an output's rows: added up in the streaming plan itself, at its end, so that a batch is planned once (R4)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, MapType, StructField, StructType

from streamproof._jvm import float_steps
from streamproof.runtime.rows.doors import rows_that_pass
from streamproof.stream.names import ADDED, DUE, MADE, ORIGINAL, RECORDS, TRACE, TRACE_HASH

if TYPE_CHECKING:
    from streamproof._jvm import Doors


@dataclass(frozen=True)
class Tallied:
    """Rows as they are written, each of them summed on its way.

    Parameters
    ----------
    floats
        The columns that are summed instead of hashed, by the step that each may come out apart (0: in its last digits only).
    not_compared
        Columns that are neither summed nor hashed: in another order of addition they could be anything.
    steps
        Which columns depend on the order in which floats are added, see `float_steps`.
    """

    rows: DataFrame
    floats: Mapping[str, float]
    not_compared: Sequence[str] = ()
    steps: Mapping[str, float] = field(default_factory=dict)


def tally_door(output: str) -> str:
    """The name that the tasks report the sums of an output under."""
    return f"tally:{output}"


def tallied(rows: DataFrame, doors: "Doors", output: str, *, sums: bool, steps: Mapping[str, float] | None = None) -> Tallied:
    """Adds row hashes, hidden counts and float sums up, and takes the hidden columns off that only a proof writes.

    Floats of aggregations depend on the order of addition and are summed, and so is what rounds them; elsewhere they are hashed like the rest.
    `steps` are those of the aggregation, where the rows are not its own any more.
    """
    names = rows.columns
    visible = [column for column in rows.schema.fields if column.name not in (ORIGINAL, RECORDS, ADDED, DUE)]
    in_proof = TRACE_HASH in names or TRACE in names
    steps = steps if steps is not None else float_steps(rows) if sums else {}
    is_float = {column.name for column in visible if sums and isinstance(column.dataType, DoubleType | FloatType)}
    floats = {
        column.name: steps.get(column.name, 0.0)
        for column in visible
        if (column.name in is_float or column.name in steps) and steps.get(column.name) != math.inf
    }
    not_compared = [name for name, step in steps.items() if step == math.inf]
    row_hash = hash_of([column for column in visible if column.name not in floats and column.name not in not_compared])
    counts = next((name for name in (ADDED, RECORDS) if name in names), None)
    records = F.lit(0).cast("bigint") if counts is None else F.coalesce(F.col(counts), F.lit(0)).cast("bigint")
    passes = doors.tally(tally_door(output), row_hash, records, [F.col(name).cast("double") for name in floats])
    kept = [column.name for column in visible] + ([RECORDS] if in_proof and RECORDS in names else [])
    # What is summed must be what is written, not what a function of the user's gives when it is called once more.
    return Tallied(rows_that_pass(rows.withColumn(MADE, F.spark_partition_id()), passes).select(*kept), floats, not_compared, steps)


def hash_of(columns: Sequence[StructField]) -> Column:
    """The hash of a row (bigint) over some of its columns.

    xxhash64 passes over nulls, and through the elements of arrays: a constant stands between two columns of one type, so that no value
    moves from one to the other unseen.
    """
    parts: list[Column] = []
    since: set[type[DataType]] = set()
    for column in columns:
        if type(column.dataType) in since:
            parts.append(F.lit(0))
            since = set()
        since.add(type(column.dataType))
        parts.append(F.to_json(F.struct(column.name)) if _has_map(column.dataType) else F.col(column.name))
    return F.xxhash64(*parts)


def _has_map(type_: DataType) -> bool:
    """Whether a value is a map, or has one in it: Spark hashes none."""
    if isinstance(type_, StructType):
        return any(_has_map(column.dataType) for column in type_.fields)
    return isinstance(type_, MapType) or (isinstance(type_, ArrayType) and _has_map(type_.elementType))
