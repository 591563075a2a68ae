"""One scenario in a process of its own on the warm JVM: fresh job module, fresh Python memory (R17)."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.prove.process import guard
from streamproof.prove.process.gateway import attach

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class ChildTask:
    """What a child does: run every query of a job to its end on the scenario's folder, then write down what is in its state.

    Parameters
    ----------
    target, entry, profile
        The job's configuration, read afresh; `entry` is "file.py:function".
    base, folder, data, files_per_batch
        The setting.
    port, secret
        The gateway of this child to the JVM.
    operators
        Per query, the stateful operators: operator id to Spark's name of it; None where they are not known yet.
    records_per_batch, urls, environment
        The rest of the setting, where services are in it.
    steps, crash_at, desk
        A file for the steps that are taken in services, the one to die at, or where to report it to.
    replay_last
        Take back the newest commit first: the remedy of a damaged checkpoint.
    count_tasks
        Say how many tasks the widest stage had.
    """

    id: str
    target: str
    entry: str
    profile: str | None
    base: str
    folder: str
    data: Mapping[str, str]
    files_per_batch: int | None
    port: int
    secret: str
    result: str
    trace: bool = True
    replay_last: bool = False
    count_tasks: bool = False
    read_state: bool = True
    operators: Mapping[str, Mapping[str, str]] | None = None
    records_per_batch: int | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    steps: str = ""
    crash_at: str = ""
    desk: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    allowed_hosts: tuple[str, ...] = ()

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ChildTask":
        found = json.loads(text)
        return cls(**{**found, "allowed_hosts": tuple(found["allowed_hosts"])})


@dataclass(frozen=True)
class ChildResult:
    """How it ended: `error` is the kind of error that stopped the job (empty if none), `message` what it said; `widest` how many
    tasks a stage had at most, where that was asked.
    """

    error: str = ""
    message: str = ""
    remedy: str = ""
    notes: tuple[str, ...] = ()
    operators: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    attempts: Mapping[str, int] = field(default_factory=dict)
    widest: int = 0

    @classmethod
    def from_json(cls, text: str) -> "ChildResult":
        found = json.loads(text)
        return cls(**{**found, "notes": tuple(found["notes"])})


def run_child(task: ChildTask) -> ChildResult:
    """Attaches to the JVM, runs the job, reads its state."""
    guard.install(task.allowed_hosts)
    return run_on(attach(task.port, task.secret), task)


def run_on(spark: "SparkSession", task: ChildTask) -> ChildResult:
    """Runs the job of a task on a session, reads its state."""
    from streamproof.checkpoint.state import reachable
    from streamproof.config import load
    from streamproof.connectors.steps import UNWATCHED
    from streamproof.core.users_code import place_of, raised_in, remedy_for
    from streamproof.errors import StreamproofError
    from streamproof.prove.artifacts.state_file import write_state
    from streamproof.prove.services.crash import WatchedSteps
    from streamproof.prove.subjects.job.binding import CHECKPOINT, TYPES, Setting
    from streamproof.runtime.start.options import Start
    from streamproof.runtime.start.query import start_query

    guard.allow_in_workers(spark.sparkContext, task.allowed_hosts)
    os.environ.update(task.environment)
    config = load(task.target, profile=task.profile)
    own = {"entry": task.entry, "name": task.entry.rpartition(":")[2], "spark": {**config.spark, **task.settings}}
    config = config.model_copy(update=own)
    setting = Setting(
        task.base, Path(task.folder), task.data, task.files_per_batch, task.records_per_batch, task.urls, task.environment
    )
    notes: list[str] = []
    operators: dict[str, dict[str, str]] = {}
    types: dict[str, dict[str, str]] = {}
    attempts: dict[str, int] = {}
    widest = 0
    try:
        bound = setting.bind(config)
        steps = WatchedSteps(task.steps, task.crash_at, os.getpid(), task.desk) if task.steps else UNWATCHED
        start = Start(trace=task.trace, replay_last=task.replay_last, steps=steps)
        for query in bound.outputs.main:
            running = start_query(bound, query, spark.newSession(), start)
            for output, columns in running.protocol.columns.items():
                types[output] = {column.name: column.dataType.simpleString() for column in columns.fields}
            (setting.folder / TYPES).write_text(json.dumps(types))
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
        return ChildResult(type(problem).__name__, problem.message, problem.remedy, tuple(notes), operators, attempts)
    except Exception as problem:
        if place_of(problem) is None:  # a fault of ours: the harness says so
            raise
        return ChildResult(type(problem).__name__, raised_in(None, problem), remedy_for(problem), tuple(notes), operators, attempts)
    return ChildResult(notes=tuple(notes), operators=operators, attempts=attempts, widest=widest)


def _widest_stage(spark: "SparkSession", run: str) -> int:
    """How many tasks the widest stage of a query's run had, of those that Spark remembers."""
    tracker = spark.sparkContext.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(run))
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return max((stage.numTasks for stage in stages if stage is not None), default=0)
