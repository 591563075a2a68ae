"""What Spark's plans and expressions say of themselves, and aggregates of our own in them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from streamproof._jvm.java import java_class

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType


def key_of_deduplication(rows: "DataFrame") -> list[str]:
    """By what columns `dropDuplicatesWithinWatermark`, which the rows come from, partitions its state, in its order."""
    return list(java_class(rows.sparkSession, "Doors").keyOf(rows._jdf))


def newest_of_keys(rows: "DataFrame", key: "Sequence[str]", horizon_us: int, *, forgets: bool) -> "DataFrame":
    """The rows with a mark, their last column, on those that their key changes to; the column before it is the rank (`Newest`).

    Parameters
    ----------
    horizon_us
        How long a key is remembered after the latest event time of its rows, microseconds.
    forgets
        False in a batch, which has no watermark.
    """
    from pyspark.sql import DataFrame

    return DataFrame(java_class(rows.sparkSession, "Newest").of(rows._jdf, list(key), horizon_us, forgets), rows.sparkSession)


def float_steps(rows: "DataFrame") -> dict[str, float]:
    """Which columns depend on the order in which an aggregation adds floats, and how far two right values of one may be apart.

    0 is in the last digits only, infinity anything; else it is the step of the rounding that the column is made by.
    """
    return dict(java_class(rows.sparkSession, "FloatOrder").steps(rows._jdf))


def column_origins(rows: "DataFrame", sources: "Mapping[str, DataFrame]") -> dict[str, list[str]]:
    """By column of a plan what it is made of, a line for each column of a source: "IDENTITY source column"; "HIDDEN step" of what no plan knows."""
    said = java_class(rows.sparkSession, "ColumnOrigins").of(rows._jdf, {name: read._jdf for name, read in sources.items()})
    return {name: lines.split("\n") if lines else [] for name, lines in dict(said).items()}


def accumulator_column(zero: "DataFrame", add: "DataFrame", merge: "DataFrame", result: "DataFrame") -> "Column":
    """An aggregate of its expressions, each a column of an analysed projection (`Accumulator`)."""
    from pyspark.sql import Column

    return Column(java_class(zero.sparkSession, "Accumulator").column(zero._jdf, add._jdf, merge._jdf, result._jdf))


def unfit_for_a_buffer(rows: "DataFrame") -> list[str]:
    """Why each column of an analysed projection cannot stand in an accumulator, in a word or two; empty where it can."""
    return str(java_class(rows.sparkSession, "Accumulator").unfit(rows._jdf)).split("\n")


def empty_rows(spark: "SparkSession", columns: "StructType") -> "DataFrame":
    """No rows, of these columns; PySpark's own way sends them through a job of its own."""
    from pyspark.sql import DataFrame

    types = getattr(spark._jvm, "org.apache.spark.sql.types.DataType")
    nothing = getattr(spark._jvm, "java.util.ArrayList")()
    return DataFrame(spark._jsparkSession.createDataFrame(nothing, types.fromJson(columns.json())), spark)


def rows_in_full(rows: "DataFrame") -> int:
    """How many rows there are if every column is read. `count()` reads none, and so counts records that a reader leaves out by their columns."""
    return int(rows._jdf.queryExecution().toRdd().count())


def aggregates_in_python(rows: "DataFrame") -> bool:
    """Whether an aggregation calls a function of Python."""
    return bool(java_class(rows.sparkSession, "Operators").aggregatesInPython(rows._jdf))


def depending_on_order(aggregated: "DataFrame") -> list[str]:
    """The columns of an aggregation whose values depend on the order in which rows are aggregated."""
    found: str = java_class(aggregated.sparkSession, "Operators").dependingOnOrder(aggregated._jdf)
    return found.splitlines()


def operators_of_stream(rows: "DataFrame") -> list[str]:
    """The operators of the logical plan of a streaming DataFrame, from the top, by the names of Spark's classes; none of a batch one.

    A table that the stream is joined with is left out; "Generate explode" names its function, "Join of streams" has a stream on both sides.
    """
    found: str = java_class(rows.sparkSession, "Operators").ofStream(rows._jdf)
    return found.splitlines()
