"""How a subject runs in a child: by a module that the subject names, imported where it is needed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from streamproof.prove.process.task import ChildResult, ChildTask

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNNER = "runner"
"""What a task says of its subject under this name: the module that runs it."""


class Runner(Protocol):
    """A kind of subject, in a child."""

    STANDS_ON: str
    """What its Spark is started for, see `process.spark_settings`."""

    def run(self, spark: "SparkSession", task: ChildTask) -> ChildResult:
        """Runs the subject to its end on the folder of the task."""

    def spark_of(self, task: ChildTask) -> tuple[Mapping[str, str], Sequence[str]]:
        """The settings and the jars of a Spark that is started for this task alone."""


def runner_of(task: ChildTask) -> Runner:
    """What runs the subject of a task."""
    return cast("Runner", import_module(task.subject[RUNNER]))
