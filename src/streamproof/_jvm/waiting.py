"""Rows that wait in files of JSON, as one DataFrame for all batches of a query."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamproof._jvm.java import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class WaitingRows:
    """A DataFrame that Spark analyses once; before each use it is told which files it reads, and which windows it gives.

    Parameters
    ----------
    end
        The column (bigint, microseconds UTC) with the end of a row's window.
    columns
        Of the files; all of them may be null.
    options
        How the files are read, as Spark's reader of JSON takes them.
    """

    def __init__(self, spark: "SparkSession", end: str, columns: "StructType", options: Mapping[str, str]) -> None:
        self._spark = spark
        self._java = java_class(spark, "WaitingRows")(spark._jsparkSession, end, columns.json(), dict(options))

    def rows(self) -> "DataFrame":
        """The rows of the files whose windows are asked for."""
        from pyspark.sql import DataFrame

        return DataFrame(self._java.rows(), self._spark)

    def of(self, sizes: Mapping[str, int], above: int, up_to: int) -> None:
        """Sets what is read next: files, by path their bytes, and the windows that end above one instant and up to another, microseconds UTC."""
        self._java.of(json.dumps(dict(sizes)), above, up_to)


def write_rows(rows: "DataFrame", form: str, directory: str, options: Mapping[str, str]) -> None:
    """Computes rows, and adds them as "json", "parquet", "csv" or "avro" to a directory; a DataFrame that is written again is planned again."""
    java_class(rows.sparkSession, "RowsWriter").write(rows._jdf, form, directory, dict(options))
