"""A job of ours in a child: every query runs to its end, then what is in its state is written down."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.core.notes import Note
from streamproof.prove.process.child import JOB_RAISED, ChildResult, ChildTask
from streamproof.prove.subjects.binding import CHECKPOINT, TYPES, ScenarioBinding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from streamproof.config import JobConfig

_PATIENCE_SECONDS = 60.0


def spark_of(task: ChildTask) -> "tuple[Mapping[str, str], Sequence[str]]":
    """The settings and the jars of a Spark that is started for this task alone."""
    from streamproof.runtime.connector_jars import connector_jars

    config = _config(task)
    return config.spark, connector_jars(config)


def _config(task: ChildTask) -> "JobConfig":
    """The job's configuration, read afresh, with the entry that is proved."""
    from streamproof.config import load

    config, entry = load(task.subject["target"], profile=task.subject["profile"]), task.subject["entry"]
    return config.model_copy(update={"entry": entry, "name": entry.rpartition(":")[2]})


def run(spark: "SparkSession", task: ChildTask) -> ChildResult:
    """Runs the job of a task on a session, reads its state."""
    from streamproof.checkpoint.state import reachable
    from streamproof.connectors.steps import UNWATCHED
    from streamproof.core.users_code import place_of, raised_in, remedy_for
    from streamproof.errors import StreamproofError
    from streamproof.prove.artifacts.state_file import write_state
    from streamproof.prove.services.crash import WatchedSteps
    from streamproof.prove.subjects.job.binding import bind_job
    from streamproof.runtime.start.options import Start
    from streamproof.runtime.start.query import start_query

    config = _config(task)
    config = config.model_copy(update={"spark": {**config.spark, **task.settings}})
    binding = ScenarioBinding(
        task.base, Path(task.folder), task.data, task.files_per_batch, task.records_per_batch, task.urls, task.environment
    )
    notes: list[Note] = []
    operators: dict[str, dict[str, str]] = {}
    types: dict[str, dict[str, str]] = {}
    attempts: dict[str, int] = {}
    widest = 0
    try:
        bound = bind_job(binding, config)
        steps = WatchedSteps(task.steps, task.crash_at, os.getpid(), task.desk) if task.steps else UNWATCHED
        start = Start(trace=task.trace, replay_last=task.replay_last, steps=steps)
        for query in bound.outputs.main:
            running = start_query(bound, query, spark.newSession(), start)
            for output, columns in running.protocol.columns.items():
                types[output] = {column.name: column.dataType.simpleString() for column in columns.fields}
            (binding.folder / TYPES).write_text(json.dumps(types))
            running.wait()
            running.protocol.finish(_PATIENCE_SECONDS)
            notes.extend(running.notes)
            attempts[query] = running.protocol.done.batches
            widest = max(widest, _widest_stage(spark, str(running.stream.runId))) if task.count_tasks else 0
            if task.read_state:
                known = (task.operators or {}).get(query)
                aggregate = bound.outputs.main[query].aggregate
                size = aggregate.window.size if aggregate is not None else timedelta()
                with reachable(f"{task.folder}/{CHECKPOINT}/{query}") as checkpoint:
                    operators[query] = write_state(spark, checkpoint, known, size, Path(task.folder) / f"state-{query}.json")
    except StreamproofError as problem:
        return ChildResult(problem.code, problem.message, problem.remedy, problem.action, tuple(notes), operators, attempts)
    except Exception as problem:
        if place_of(problem) is None:  # a fault of ours: the harness says so
            raise
        return ChildResult(JOB_RAISED, raised_in(None, problem), remedy_for(problem), None, tuple(notes), operators, attempts)
    return ChildResult(notes=tuple(notes), operators=operators, attempts=attempts, widest=widest)


def _widest_stage(spark: "SparkSession", run: str) -> int:
    """How many tasks the widest stage of a query's run had, of those that Spark remembers."""
    tracker = spark.sparkContext.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(run))
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return max((stage.numTasks for stage in stages if stage is not None), default=0)
