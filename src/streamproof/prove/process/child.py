"""One scenario in a process of its own on the warm JVM: fresh job module, fresh Python memory (R17)."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from streamproof.errors import StreamproofError
from streamproof.prove.process import guard
from streamproof.prove.process.gateway import attach
from streamproof.prove.process.runners import runner_of
from streamproof.prove.process.task import JOB_RAISED, ChildResult, ChildTask

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_child(task: ChildTask) -> ChildResult:
    """Attaches to the JVM, runs the job, reads its state."""
    guard.install(task.limits)
    return run_on(attach(task.door.port, task.door.secret), task)


def run_on(spark: "SparkSession", task: ChildTask) -> ChildResult:
    """Runs the subject of a task on a session, reads its state."""
    limits = task.limits
    guard.allow_in_workers(spark.sparkContext, limits)
    os.environ.update(task.binding.environment)
    result = runner_of(task).run(spark, task)
    refused: StreamproofError | None = guard.refused(limits.record)  # a job that goes on after that is not proved by going on
    if refused is None and result.code == JOB_RAISED:
        refused = guard.of_a_real_place(result.message, "", own_network=limits.own_network)
    return result if refused is None else replace(result, code=refused.code, message=refused.message, remedy=refused.remedy)
