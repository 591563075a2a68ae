"""Topics of Kafka as a stream, by Spark's own connector (S1; R9)."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof import _jvm
from streamproof.config.registry import FORMATS as REGISTRY_FORMATS
from streamproof.connectors import carried, json_records, schemas
from streamproof.connectors.extras import library
from streamproof.connectors.kafka.settling import settled
from streamproof.errors import ConfigurationError, DataError, SourceUnavailable
from streamproof.stream.names import APPENDED

if TYPE_CHECKING:
    from streamproof.config import KafkaSource, KafkaTable

TIMEOUTS = {"request.timeout.ms": "8000", "default.api.timeout.ms": "10000"}
PREFIX = "kafka_"
"""What the names of the record's own columns begin with, where `include` asks for them."""


def read(
    spark: SparkSession, name: str, source: "KafkaSource", *, stream: bool, trace: bool, intake: str = "", timed: bool = False
) -> DataFrame:
    """The records of the topics.

    The declared columns, `_corrupt` (why a value does not fit; in a registry's format `_problem`),
    `_original` (the value), and of `include` the record's own columns: `kafka_key` (string), `kafka_timestamp` (timestamp),
    `kafka_topic` (string), `kafka_partition` (int), `kafka_offset` (bigint), `kafka_headers` (array of key string and value binary),
    `kafka_schema_id` (int; null where the format has none); of `carry` a column `carried_NAME` (string) each, null where a record has no
    such header. In proofs also `_trace` (string); where it is `timed`, `_appended` (TIMESTAMP).
    """
    schema = schemas.usable(name, source, schemas.declared(name, source), trace=trace)
    reader = (
        (spark.readStream if stream else spark.read).format(_jvm.PACED_TOPICS if intake else "kafka").options(**_options(source))
    )
    if stream:
        reader = reader.option("startingOffsets", source.start)
        if intake:
            reader = reader.option(_jvm.INTAKE, intake)
        elif source.records_per_batch:
            reader = reader.option("maxOffsetsPerTrigger", source.records_per_batch)
    else:  # Spark asks for the newest offsets at each action: a table that is read twice would end elsewhere the second time
        reader = reader.option("endingOffsets", ends_now(spark, f"[source.{name}]", source, committed=source.read == "committed"))
    included = [column for column in source.include if column != "schema_id"]
    own = [_own(column).alias(f"{PREFIX}{column}") for column in included]
    own += [_header(name).alias(carried.column_of(name)) for name in source.carry]
    beside = [f"`{name}`" for name in (*[f"{PREFIX}{column}" for column in included], *map(carried.column_of, source.carry))]
    if timed:
        own.append(F.col("timestamp").alias(APPENDED))
        beside.append(APPENDED)
    id_as = f"{PREFIX}schema_id" if "schema_id" in source.include else None
    records = reader.load()
    if source.format in REGISTRY_FORMATS:
        library("httpx", "registry", f"The format {source.format}")
        from streamproof.connectors.registry import records as registered

        rows = records.select(F.col("value").alias(registered.VALUE), *own)
        return registered.read(rows, name, source, schema, beside, id_as)
    rows = records.select(F.col("value").cast("string").alias("_value"), *own)
    parsed = json_records.parsed(rows, F.col("_value"), schema, beside=beside, lenient=source.lenient)
    return parsed if id_as is None else parsed.withColumn(id_as, F.lit(None).cast("int"))


def ends_now(spark: SparkSession, where: str, read: "KafkaSource | KafkaTable", *, committed: bool) -> str:
    """Where each partition ends now, as Spark takes it; where only committed records are read, after the last of them.

    Raises
    ------
    StreamproofError
        If no broker answers, or it refuses us; `where` is how errors call what reads.
    """
    topics = (read.topic,) if isinstance(read.topic, str) else read.topic
    asked = _jvm.kafka_offsets(spark, {**TIMEOUTS, **read.options, "bootstrap.servers": read.servers}, topics)
    if isinstance(asked, str):
        raise refused(where, ", ".join(topics), read.servers, asked)
    ends: dict[str, dict[str, int]] = {topic: {} for topic in topics}
    for (topic, partition), offsets in asked.items():
        ends[topic][str(partition)] = offsets.stable if committed else offsets.end
    return json.dumps(ends)


def require(spark: SparkSession, name: str, source: "KafkaSource") -> dict[str, str]:
    """Looks, before anything is planned, whether the topics are there; gives their ids by their names.

    Raises
    ------
    ConfigurationError
        If a topic is missing, or the broker refuses us.
    DataError
        If no broker answers.
    """
    return {topic: found.id for topic, found in _topics(spark, name, source).items()}


def partitions(spark: SparkSession, name: str, source: "KafkaSource") -> int:
    """How many partitions the topics of a source have; raises what `require` does."""
    return sum(found.partitions for found in _topics(spark, name, source).values())


def _topics(spark: SparkSession, name: str, source: "KafkaSource") -> dict[str, _jvm.KafkaTopic]:
    settings = {**TIMEOUTS, **source.options, "bootstrap.servers": source.servers}
    topics: dict[str, _jvm.KafkaTopic] = {}
    for topic, found in told(spark, settings, source.topic).items():
        if isinstance(found, str):
            raise refused(f"[source.{name}]", topic, source.servers, found)
        topics[topic] = found
    return topics


def told(spark: SparkSession, settings: Mapping[str, str], names: Sequence[str]) -> dict[str, _jvm.KafkaTopic | str]:
    """By name what the brokers tell of each topic, or what they say instead."""
    return settled(
        lambda: _jvm.kafka_topics(spark, settings, names),
        lambda found: any(isinstance(said, str) and _is_unknown(said) for said in found.values()),
    )


def _is_unknown(said: str) -> bool:
    return any(words in said for words in ("UnknownTopicOrPartition", "does not host this topic", "UNKNOWN_TOPIC"))


def refused(who: str, topic: str, servers: str, said: str) -> ConfigurationError | DataError:
    """The error for what a broker, or Kafka's client, said instead of an answer, in one place."""
    words = _jvm.plain(said)
    if "JAAS" in said:
        words = "no credentials are given"
    if _is_unknown(said):
        return ConfigurationError(
            f"{who} topic is {topic}, and there is no such topic at {servers}.",
            remedy="Make it, or mend the name in the configuration.",
        )
    if "Authorization" in said:
        return ConfigurationError(
            f"{who} may not use the topic {topic}: {words}", remedy="Grant this user READ and DESCRIBE, or WRITE, there."
        )
    if "Sasl" in said or "SASL" in said or "Authentication" in said or "LoginModule" in said or "JAAS" in said:
        return ConfigurationError(
            f"{who} is refused by {servers}: {words}",
            remedy='Mend options: "security.protocol", "sasl.mechanism", and the credentials, which belong into the environment: ${env:...}.',
        )
    if "Ssl" in said or "SSL" in said or "Truststore" in said or "keystore" in said.lower():
        return ConfigurationError(
            f"{who} cannot speak TLS with {servers}: {words}", remedy='Mend options: "security.protocol" and the "ssl." settings.'
        )
    if "No resolvable bootstrap" in said or "Invalid url" in said:
        return ConfigurationError(
            f"{who} servers is {servers}: {words}", required='They are written as "host:9092", several with commas.'
        )
    return SourceUnavailable(
        f"{who} no broker answers at {servers}: {words}",
        required="Nothing is lost: what was not read is still in the topic.",
        remedy='Look whether it runs and is reached from here; a broker that speaks TLS needs options = { "security.protocol" = "SSL" }.',
    )


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
        "includeHeaders": str("headers" in source.include or bool(source.carry)).lower(),
    }


def _header(name: str) -> Column:
    """The last value of a header, as text."""
    of_name = F.filter("headers", lambda header: header["key"] == name)
    return F.try_element_at(of_name, F.lit(-1))["value"].cast("string")


def _own(column: str) -> Column:
    return F.col(column).cast("string") if column == "key" else F.col(column)
