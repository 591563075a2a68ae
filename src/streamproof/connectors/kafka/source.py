"""Topics of Kafka as a stream, by Spark's own connector (S1; R9)."""

from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.connectors import json_records, schemas

if TYPE_CHECKING:
    from streamproof.config import KafkaSource

PREFIX = "kafka_"
"""What the names of the record's own columns begin with, where `include` asks for them."""


def read(spark: SparkSession, name: str, source: "KafkaSource", *, stream: bool, trace: bool) -> DataFrame:
    """The records of the topics.

    The declared columns, `_corrupt` (the text of a value that does not fit), `_original` (the value), and of `include` the record's
    own columns: `kafka_key` (string), `kafka_timestamp` (timestamp), `kafka_topic` (string), `kafka_partition` (int),
    `kafka_offset` (bigint), `kafka_headers` (array of key string and value binary). In proofs also `_trace` (string).
    """
    schema = schemas.usable(name, source, schemas.declared(name, source), trace=trace)
    reader = (spark.readStream if stream else spark.read).format("kafka").options(**_options(source))
    if stream:
        reader = reader.option("startingOffsets", source.start)
        if source.records_per_batch:
            reader = reader.option("maxOffsetsPerTrigger", source.records_per_batch)
    own = [_own(column).alias(f"{PREFIX}{column}") for column in source.include]
    rows = reader.load().select(F.col("value").cast("string").alias("_value"), *own)
    return json_records.parsed(rows, F.col("_value"), schema, beside=[f"{PREFIX}{column}" for column in source.include])


def _options(source: "KafkaSource") -> dict[str, str]:
    own = {f"kafka.{key}": value for key, value in source.options.items()}
    return {
        # Aborted transactions are what a publisher left when it died: Spark's default reads them too.
        "kafka.isolation.level": f"read_{source.read}",
        **own,
        "kafka.bootstrap.servers": source.servers,
        "subscribe": ",".join(source.topic),
        # Offsets that retention took, or a deleted topic, stop the job: their records were never counted.
        "failOnDataLoss": "true",
        "includeHeaders": str("headers" in source.include).lower(),
    }


def _own(column: str) -> Column:
    return F.col(column).cast("string") if column == "key" else F.col(column)
