"""What the driver of a job of ours needs: the process that scenarios are forked from imports it once."""

SCENARIOS = (
    "pyspark.java_gateway",
    "pyspark.testing",  # with pandas, when the first argument goes to the JVM
    "pyspark.sql.classic.dataframe",
    "pyspark.sql.functions",
    "pyspark.sql.pandas.map_ops",
    "pyspark.sql.streaming.query",
    "pyspark.sql.types",
    "encodings.idna",
    "pyarrow.parquet",
    "streamproof.checkpoint.state",
    "streamproof.config",
    "streamproof.connectors.files.noticing",
    "streamproof.connectors.files.reading",
    "streamproof.prove.artifacts.reading",
    "streamproof.prove.artifacts.state_file",
    "streamproof.prove.process.child",
    "streamproof.prove.process.watched_steps",
    "streamproof.prove.subjects.job.being_scraped",
    "streamproof.prove.subjects.job.binding",
    "streamproof.prove.subjects.job.child",
    "streamproof.runtime.binding.bind",
    "streamproof.runtime.spark.artifacts",
    "streamproof.runtime.start.query",
    "streamproof.stream.operators.source",
)
"""What the driver of a job needs."""

SCENARIOS_ON_SERVICES = (
    *SCENARIOS,
    "streamproof.connectors.http.sink",
    "streamproof.connectors.kafka.lag",
    "streamproof.connectors.kafka.reading",
    "streamproof.connectors.kafka.sink",
    "streamproof.connectors.postgres.sink",
    "streamproof.connectors.redis.sink",
    "streamproof.connectors.registry.values",
    "httpcore",  # by httpx, when it makes the first request
)
"""The same of one with services: half a second more, at the start."""
