"""Faults on the job's own processes: an executor is killed, a second driver works on the same checkpoint."""

import os
import signal

from streamproof.errors import LabError
from streamproof.prove.faults.fault import ServiceFault, Struck


def _kill_executor(struck: Struck) -> None:
    """Kills the JVM; the Python worker of its task outlives it for a moment, as it does in life, and goes on with what it does."""
    if not struck.process:
        raise LabError("The step is not taken by a task.")
    os.kill(struck.process, signal.SIGKILL)


def _second_driver(struck: Struck) -> None:
    struck.second_driver()


FAULTS = (
    ServiceFault("executor-killed", "spark", "the executor is killed with kill -9", _kill_executor, on_cluster=True),
    ServiceFault(
        "two-drivers",
        "driver",
        "a second driver runs the job on the same checkpoint to its end, and the first one goes on",
        _second_driver,
    ),
)
