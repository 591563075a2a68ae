"""The daemon of Spark's Python workers during a proof: pyspark's own, with the socket guard in it and in every worker."""

import runpy
from contextlib import suppress
from importlib import import_module
from zipimport import zipimporter

from streamproof.prove import guard

_IMPORTED_ONCE = (
    "streamproof.connectors.http.calling",
    "streamproof.connectors.kafka.transactions",
    "streamproof.connectors.postgres.transactions",
    "streamproof.connectors.redis.writing",
    "pyspark.worker",
)
"""What the tasks of sinks need: workers are forked anew for each task, and would import it each time."""


def prepare() -> None:
    """Spares every worker what is the same for all of them; nothing on their path changes while a proof runs."""
    for module in _IMPORTED_ONCE:
        with suppress(ImportError):  # of an extra that is not installed: no sink needs it then
            import_module(module)
    # At its start a worker reads the directories of pyspark.zip and of every jar on its path anew: a quarter of a second.
    zipimporter.invalidate_caches = lambda _: None  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    prepare()
    guard.install_in_worker()
    runpy.run_module("pyspark.daemon", run_name="__main__")
