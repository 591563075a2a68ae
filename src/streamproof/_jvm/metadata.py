"""What Spark keeps beside a column: by it a column is event time with a watermark."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column


def without_metadata(column: "Column", name: str) -> "Column":
    """The column under a name, with nothing beside it. PySpark 4.0 takes an `alias` with empty metadata for one that asks for nothing."""
    from pyspark import SparkContext
    from pyspark.sql import Column

    context = SparkContext._active_spark_context
    assert context is not None, "a session is running"
    nothing = getattr(context._jvm, "org.apache.spark.sql.types.Metadata").empty()
    return Column(getattr(column._jc, "as")(name, nothing))
