"""What Kafka's own client says of topics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof._jvm.java import java_causes
from streamproof.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NO_TOPIC_ID = "A" * 22
"""How Kafka writes the id of zeros, which is what brokers before 2.8 give."""


@dataclass(frozen=True)
class KafkaTopic:
    """A topic that is there: how many partitions it has, and the id that no topic made later under its name has; "" of old brokers."""

    partitions: int
    id: str


def kafka_topics(spark: "SparkSession", settings: "Mapping[str, str]", topics: "Sequence[str]") -> dict[str, KafkaTopic | str]:
    """By name what is known of each topic, or what the broker said instead, by Kafka's own client.

    Raises
    ------
    EnvironmentProblem
        If the session does not have Kafka's client.
    """
    from py4j.java_gateway import JavaPackage
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark._jvm
    admin_class = getattr(jvm, "org.apache.kafka.clients.admin.AdminClient")
    if isinstance(admin_class, JavaPackage):
        raise EnvironmentProblem(
            "The Spark session that is running does not have Spark's Kafka connector.",
            required="spark-sql-kafka-0-10, with kafka-clients, on the driver's class path before the session starts.",
            remedy="Let Streamproof start the session, or give it with spark-submit --packages.",
        )
    properties = jvm.java.util.Properties()
    for key, value in settings.items():
        properties.setProperty(key, value)
    found: dict[str, KafkaTopic | str] = {}
    try:
        admin = admin_class.create(properties)
    except Py4JJavaError as problem:
        return dict.fromkeys(topics, java_causes(problem.java_exception)[-1])
    try:
        answers = admin.describeTopics(list(topics)).topicNameValues()
        for topic in topics:
            try:
                told = answers.get(topic).get()
                topic_id = str(told.topicId().toString())
                found[topic] = KafkaTopic(int(told.partitions().size()), "" if topic_id == _NO_TOPIC_ID else topic_id)
            except Py4JJavaError as problem:
                found[topic] = java_causes(problem.java_exception)[-1]
    finally:
        admin.close(jvm.java.time.Duration.ZERO)
    return found


@dataclass(frozen=True)
class KafkaOffsets:
    """Three offsets of a partition: the first record that is there, the end of the committed records, the end of all records.

    Records between the last two lie in an open transaction, or after one.
    """

    first: int
    stable: int
    end: int


def kafka_offsets(
    spark: "SparkSession", settings: "Mapping[str, str]", topics: "Sequence[str]"
) -> dict[tuple[str, int], KafkaOffsets] | str:
    """The offsets of each partition, by topic and number; or what the broker said instead."""
    from py4j.protocol import Py4JJavaError

    counts: dict[str, int] = {}
    for topic, told in kafka_topics(spark, settings, topics).items():
        if isinstance(told, str):
            return told
        counts[topic] = told.partitions
    jvm: Any = spark._jvm
    kafka = "org.apache.kafka"
    partition = getattr(jvm, f"{kafka}.common.TopicPartition")
    levels, spec = getattr(jvm, f"{kafka}.common.IsolationLevel"), getattr(jvm, f"{kafka}.clients.admin.OffsetSpec")
    options = getattr(jvm, f"{kafka}.clients.admin.ListOffsetsOptions")
    names = {(topic, number): partition(topic, number) for topic, count in counts.items() for number in range(count)}

    def asked(which: Any, level: Any) -> dict[tuple[str, int], int]:
        wanted = jvm.java.util.HashMap()
        for name in names.values():
            wanted.put(name, which)
        found = admin.listOffsets(wanted, options(level)).all().get()
        return {name: int(found.get(java).offset()) for name, java in names.items()}

    properties = jvm.java.util.Properties()
    for key, value in settings.items():
        properties.setProperty(key, value)
    admin = getattr(jvm, f"{kafka}.clients.admin.AdminClient").create(properties)
    try:
        first = asked(spec.earliest(), levels.READ_UNCOMMITTED)
        stable, end = asked(spec.latest(), levels.READ_COMMITTED), asked(spec.latest(), levels.READ_UNCOMMITTED)
        return {name: KafkaOffsets(first[name], stable[name], end[name]) for name in names}
    except Py4JJavaError as problem:
        return java_causes(problem.java_exception)[-1]
    finally:
        admin.close(jvm.java.time.Duration.ZERO)
