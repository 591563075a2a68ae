"""The imports of scenarios and their tasks, made once in the process that they are forked from."""

import sys
from collections.abc import Iterable
from importlib import import_module

TASKS = (
    "streamproof.connectors.http.calling",
    "streamproof.connectors.kafka.transactions",
    "streamproof.connectors.postgres.transactions",
    "streamproof.connectors.redis.writing",
    "streamproof.prove.services.crash",
    "pandas",
    "pyspark.worker",
)
"""What a task needs that calls Python."""

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

PYSPARK_JOBS = (
    "pyspark.java_gateway",
    "pyspark.testing",
    "pyspark.sql.functions",
    "pyspark.sql.streaming",
    "pyspark.sql.types",
    "pandas",
    "streamproof.prove.subjects.pyspark.child",
    "streamproof.prove.subjects.pyspark.redirect",
    "streamproof.runtime.binding.loading",
)
"""What the driver of a job needs that was not written for us."""

SCENARIOS_ON_SERVICES = (
    *SCENARIOS,
    "streamproof.connectors.http.sink",
    "streamproof.connectors.kafka.sink",
    "streamproof.connectors.kafka.source",
    "streamproof.connectors.postgres.sink",
    "streamproof.connectors.redis.sink",
    "streamproof.connectors.registry.values",
    "streamproof.prove.services.crash",
    "httpcore",  # by httpx, when it makes the first request
)
"""The same of one with services: half a second more, at the start."""


def import_all(modules: Iterable[str]) -> None:
    """Imports them; those of an extra that is not installed are left out, no job needs them then.

    So are those of others that break off: what PySpark 3.5 tests with does not go with numpy 2. Whoever needs one hears of it then.
    """
    for module in modules:
        try:
            import_module(module)
        except ImportError as missing:
            if (missing.name or "").startswith("streamproof"):
                raise
        except Exception:
            if module.startswith("streamproof"):
                raise


def draw_anew() -> None:
    """Random numbers of its own for a fork, as a process that starts has them (R17): Python sees to its own, numpy does not."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
