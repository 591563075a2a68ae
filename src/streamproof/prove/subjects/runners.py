"""How each kind of subject runs in a child: a module for each, imported where it is needed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.prove.process.child import ChildResult, ChildTask

_MODULES = {
    "job": "streamproof.prove.subjects.job.child",
    "pyspark": "streamproof.prove.subjects.pyspark.child",
}


class Runner(Protocol):
    """A kind of subject, in a child."""

    STANDS_ON: str
    """What its Spark is started for, see `process.spark_settings`."""

    def run(self, spark: "SparkSession", task: "ChildTask") -> "ChildResult":
        """Runs the subject to its end on the folder of the task."""

    def spark_of(self, task: "ChildTask") -> tuple[Mapping[str, str], Sequence[str]]:
        """The settings and the jars of a Spark that is started for this task alone."""


def runner(kind: str) -> Runner:
    """The runner of a kind of subject."""
    return cast("Runner", import_module(_MODULES[kind]))
