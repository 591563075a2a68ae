"""The source rate, as whoever reads it asks (see `connectors.source`)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from streamproof.connectors.source import Looked, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from streamproof.config import JobConfig, RateSource


@dataclass(frozen=True)
class PacedSource(Source):
    """Rows that Spark makes, so many a second."""

    config: "RateSource"

    ends: ClassVar[bool] = False

    def read(self, spark: "SparkSession", *, stream: bool, trace: bool, intake: str = "", timed: bool = False) -> "DataFrame":
        from streamproof.connectors.rate.reading import read

        return read(spark, self.name, self.config, stream=stream)

    def look(self, job: "JobConfig") -> Looked:
        return Looked(f"{self.config.rows_per_second:,} rows a second")
