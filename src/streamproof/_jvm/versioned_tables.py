"""A table that each micro-batch reads in a version of its own."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from streamproof._jvm.batches import listen_to_jvm
from streamproof._jvm.java import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class _Versions:
    """Called from the JVM, in the thread of the query, while it plans a batch."""

    def __init__(self, of: "Callable[[int], tuple[int, str]]") -> None:
        self._of = of

    def of(self, batch: int) -> str:
        size, folder = self._of(batch)
        return f"{size}\t{folder}"

    class Java:
        implements = ("io.streamproof.TableVersions",)


def versioned_rows(spark: "SparkSession", columns: "StructType", of: "Callable[[int], tuple[int, str]]") -> "DataFrame":
    """The rows of a table, in a stream those of the version that each batch is given.

    Parameters
    ----------
    of
        By the number of a batch, -1 of none, the bytes of the version and the folder with its Parquet files. What it raises stops the query.
    """
    from pyspark.sql import DataFrame

    listen_to_jvm(spark.sparkContext._gateway)
    return DataFrame(java_class(spark, "VersionedTable").rows(spark._jsparkSession, columns.json(), _Versions(of)), spark)
