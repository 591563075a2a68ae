"""Spark's own connector of Kafka, which PySpark does not bring: sources need it, and sinks that it writes."""

from streamproof.connectors.source import Jars

SPARK_KAFKA = Jars("spark-kafka", "spark-sql-kafka", {"4.0": "spark-kafka-4.0", "4.1": "spark-kafka-4.1"})
