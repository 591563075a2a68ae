"""The jars that a job's connectors need and PySpark does not bring, fetched once (see `artifacts.toml`)."""

from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.config import KafkaSink, KafkaSource
from streamproof.runtime.spark.artifacts import Progress, fetched

if TYPE_CHECKING:
    from streamproof.config import JobConfig

KAFKA = "spark-kafka"
_KAFKA_OF = {"4.0": "spark-kafka-4.0", "4.1": "spark-kafka-4.1"}
"""By minor version of Spark a connector of its own: it calls classes of Spark that a later version has moved."""


def connector_jars(config: "JobConfig", progress: Progress | None = None) -> list[str]:
    """The jars for a job; none where it needs none, or where its own `spark.jars` bring the connector.

    Raises
    ------
    EnvironmentProblem
        If one cannot be fetched; names it, and where to put it.
    """
    by_spark = any(isinstance(sink, KafkaSink) and sink.guarantee == "at-least-once" for sink in config.sink.values())
    if not by_spark and not any(isinstance(source, KafkaSource) for source in config.source.values()):
        return []
    given = ",".join(config.spark.get(key, "") for key in ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath"))
    return [] if "spark-sql-kafka" in given else jars_of(kafka_bundle(), progress)


def kafka_bundle() -> str:
    """The bundle with Spark's Kafka connector for the installed Spark."""
    return _KAFKA_OF.get(_jvm.minor_version(_jvm.installed_spark()), KAFKA)


def jars_of(bundle: str, progress: Progress | None = None) -> list[str]:
    """The jars of a bundle, fetched where they are not there yet."""
    return sorted(str(jar) for jar in fetched(bundle, progress).glob("*.jar"))
