"""The rows that two records make together, as the user's call of join() says it, by a batch query of the oracle's own (R28)."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.prove.oracle.trace import apart
from streamproof.prove.scenario.generate import TRACE
from streamproof.stream.names import quoted

_SIDES = ("_of_left", "_of_right")
_BEHIND_NAMES_OF_RIGHT = "_right"


def joined_rows(spark: SparkSession, inputs: tuple[DataFrame, DataFrame], key: Sequence[str], given: Sequence[str]) -> DataFrame:
    """The rows of a join, and `_trace` in front: the columns of the left row, then those of the right one but for the key.

    Parameters
    ----------
    inputs
        The rows of the left and of the right stream, with their traces.
    given
        Which rows it gives, each by the traces of its records: one of each side, or one alone.

    Which rows meet the model has said; this only puts their values side by side. What the left one has a name for stands in a column with "_right"
    behind that name.
    """
    left, right = inputs
    # From a list of rows PySpark would start Python workers.
    table = pa.table(
        {
            TRACE: pa.array(given, pa.string()),
            _SIDES[0]: _of(given, 0),
            _SIDES[1]: pa.array([apart(name)[-1] for name in given], pa.string()),
        }
    )
    pairs = spark.createDataFrame(table)
    ours = left.select(F.col(TRACE).alias(_SIDES[0]), F.struct(*_quoted(left)).alias("left"))
    theirs = right.select(F.col(TRACE).alias(_SIDES[1]), F.struct(*_quoted(right)).alias("right"))
    rows = pairs.join(ours, _SIDES[0], "left").join(theirs, _SIDES[1], "left")
    named = {name.lower() for name in left.columns}
    shown = [
        (F.coalesce(f"left.{quoted(name)}", f"right.{quoted(name)}") if name in key else F.col(f"left.{quoted(name)}")).alias(name)
        for name in left.columns
        if name != TRACE
    ]
    for name in right.columns:
        if name != TRACE and name not in key:
            behind = _BEHIND_NAMES_OF_RIGHT if name.lower() in named else ""
            shown.append(F.col(f"right.{quoted(name)}").alias(name + behind))
    return rows.select(TRACE, *shown)


def columns_of_side(names: Sequence[str], number: int, shapes: Sequence[Sequence[str]], key: Sequence[str]) -> dict[str, str]:
    """Of columns of a join's rows those that one of its streams has, by what they are called there.

    Parameters
    ----------
    number
        Of the stream: 0 is the left one.
    shapes
        The columns of both.
    """
    ours, theirs = shapes[0], shapes[1]
    lower = {name.lower() for name in ours}
    if number == 0:
        return {name: name for name in names if name in ours or name in key}
    shown = {f"{name}{_BEHIND_NAMES_OF_RIGHT}" if name.lower() in lower and name not in key else name: name for name in theirs}
    return {name: shown.get(name, name) for name in names if name in shown or name in key}


def _of(given: Sequence[str], place: int) -> Any:
    return pa.array([apart(name)[place] for name in given], pa.string())


def _quoted(rows: DataFrame) -> list[str]:
    return [quoted(name) for name in rows.columns if name != TRACE]
