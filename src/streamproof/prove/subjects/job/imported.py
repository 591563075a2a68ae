"""What the driver of a job of ours needs: the process that scenarios are forked from imports it once."""

SCENARIOS = (
    "pyspark.java_gateway",
    "pyspark.testing",  # with pandas, when the first argument goes to the JVM
    "pyspark.sql.functions",
    "pyspark.sql.streaming.query",
    "pyspark.sql.types",
    "streamproof.checkpoint.state",
    "streamproof.config",
    "streamproof.prove.process.child",
    "streamproof.prove.subjects.job.child",
    "streamproof.prove.artifacts.state_file",
    "streamproof.runtime.binding.bind",
    "streamproof.runtime.start.query",
)
"""What the driver of a job needs."""

SCENARIOS_ON_SERVICES = (
    *SCENARIOS,
    "streamproof.connectors.http.sink",
    "streamproof.connectors.kafka.sink",
    "streamproof.connectors.kafka.reading",
    "streamproof.connectors.postgres.sink",
    "streamproof.connectors.redis.sink",
    "streamproof.connectors.registry.values",
    "streamproof.prove.process.watched_steps",
    "httpcore",  # by httpx, when it makes the first request
)
"""The same of one with services: half a second more, at the start."""
