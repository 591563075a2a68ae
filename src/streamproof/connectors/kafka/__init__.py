"""Apache Kafka: topics in by Spark's own connector, topics out in transactions."""
