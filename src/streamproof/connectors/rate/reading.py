"""Spark's own rate source as a stream (S1): the offset is the second that is read to, counted from the first start of the checkpoint."""

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from streamproof.config import RateSource


def read(spark: SparkSession, name: str, source: "RateSource", *, stream: bool) -> DataFrame:
    """Its rows: `timestamp` (timestamp) and `value` (bigint).

    Raises
    ------
    ConfigurationError
        If it is read as a batch: it has no end.
    """
    if not stream:
        raise ConfigurationError(
            f"[source.{name}] connector is rate, which has no end: it is no table.",
            remedy="Bind the source to a folder of files, in a profile of its own.",
        )
    return spark.readStream.format("rate").option("rowsPerSecond", source.rows_per_second).load()
