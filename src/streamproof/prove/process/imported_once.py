"""The imports of scenarios and their tasks, made once in the process that they are forked from."""

import sys
from collections.abc import Iterable
from importlib import import_module

TASKS = (
    "streamproof.connectors.http.calling",
    "streamproof.connectors.kafka.transactions",
    "streamproof.connectors.postgres.transactions",
    "streamproof.connectors.redis.writing",
    "streamproof.prove.process.watched_steps",
    "pandas",
    "pyspark.worker",
)
"""What a task needs that calls Python."""


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
