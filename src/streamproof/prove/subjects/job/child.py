"""A job of ours in a child: every query runs to its end, then what is in its state is written down."""

import json
import os
import traceback
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.core.notes import Note
from streamproof.prove.process import machine
from streamproof.prove.process.spark_settings import OURS
from streamproof.prove.process.task import JOB_RAISED, OWN_FAULT, ChildResult, ChildTask
from streamproof.prove.record.binding import CHECKPOINT, TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from streamproof.config import JobConfig, SourceConfig

_PATIENCE_SECONDS = 60.0


STANDS_ON = OURS


def spark_of(task: ChildTask) -> "tuple[Mapping[str, str], Sequence[str]]":
    """The settings and the jars of a Spark that is started for this task alone."""
    from streamproof.runtime.spark.connector_jars import connector_jars

    config = _config(task)
    return config.spark, connector_jars(config)


def _config(task: ChildTask) -> "JobConfig":
    """The job's configuration, read afresh, with the entry that is proved."""
    from streamproof.config import load

    config, entry = load(task.subject["target"], profile=task.subject["profile"]), task.subject["entry"]
    return config.model_copy(update={"entry": entry, "name": entry.rpartition(":")[2]})


def run(spark: "SparkSession", task: ChildTask) -> ChildResult:
    """Runs the job of a task on a session, reads its state."""
    from streamproof import _jvm
    from streamproof.checkpoint.state import reachable
    from streamproof.connectors.steps import UNWATCHED
    from streamproof.core.users_code import place_of, raised_in, remedy_for, said
    from streamproof.errors import StreamproofError
    from streamproof.prove.artifacts.state_file import write_state, write_unread
    from streamproof.prove.process.watched_steps import WatchedSteps
    from streamproof.prove.subjects.job.being_scraped import scraping
    from streamproof.prove.subjects.job.binding import bind_job
    from streamproof.runtime.start.options import Start
    from streamproof.runtime.start.query import start_query

    config = _config(task)
    config = config.model_copy(update={"spark": {**config.spark, **task.conditions.settings}})
    config = _with_another_lag(config) if task.conditions.changed else config
    binding, conditions = task.binding, task.conditions
    notes: list[Note] = []
    operators: dict[str, dict[str, str]] = {}
    types: dict[str, dict[str, str]] = {}
    attempts: dict[str, int] = {}
    widest = 0
    try:
        bound = bind_job(binding, config)
        steps = WatchedSteps(task.steps, conditions.crash_at, os.getpid(), conditions.desk) if task.steps else UNWATCHED
        start = Start(trace=conditions.trace, replay_last=conditions.replay_last, steps=steps)
        for query in bound.outputs.main:
            session = spark.newSession()
            for key, value in conditions.from_outside.items():
                session.conf.set(key, value)
            with scraping(task, config.name) as emitter:
                running = start_query(bound, query, session, replace(start, emitter=emitter))
                for output, columns in running.protocol.staging.columns.of_outputs.items():
                    types[output] = {column.name: column.dataType.simpleString() for column in columns.fields}
                (binding.folder / TYPES).write_text(json.dumps(types))
                running.wait()
                running.protocol.finish(_PATIENCE_SECONDS)
            notes.extend(running.notes)
            attempts[query] = running.protocol.done.batches
            widest = max(widest, _widest_stage(spark, str(running.stream.runId))) if conditions.count_tasks else 0
            if conditions.read_state:
                known = (task.operators or {}).get(query)
                target = task.folder / f"state-{query}.json"
                try:
                    with reachable(f"{task.folder}/{CHECKPOINT}/{query}") as checkpoint:
                        operators[query] = write_state(spark, checkpoint, known, target)
                except Exception as unreadable:
                    if _jvm.is_gone(unreadable):
                        raise
                    write_unread(said(unreadable), target)
    except StreamproofError as problem:
        did = None if problem.code in machine.CODES else machine.did(problem)
        if did is not None:
            return ChildResult(machine.MACHINE, did, "", None, tuple(notes), operators, attempts)
        return ChildResult(problem.code, problem.message, problem.remedy, problem.action, tuple(notes), operators, attempts)
    except Exception as problem:
        if (did := machine.did(problem)) is not None and not _jvm.is_gone(problem):
            return ChildResult(machine.MACHINE, did, "", None, tuple(notes), operators, attempts)
        if place_of(problem) is None:
            where = failed_in(problem)
            if where is None or _jvm.is_gone(problem):  # a fault of the proof itself: the harness says so
                raise
            traceback.print_exc()
            message = f"Streamproof itself has failed, in {where}: {said(problem)}."
            return ChildResult(OWN_FAULT, message, "", None, tuple(notes), operators, attempts)
        return ChildResult(JOB_RAISED, raised_in(None, problem), remedy_for(problem), None, tuple(notes), operators, attempts)
    return ChildResult(notes=tuple(notes), operators=operators, attempts=attempts, widest=widest)


def _with_another_lag(config: "JobConfig") -> "JobConfig":
    """The job with a delay that is a second longer, for every source that has one: it keeps other state."""
    sources: dict[str, SourceConfig] = {}
    for name, source in config.source.items():
        time = source.event_time
        other = {"event_time": time.model_copy(update={"lag": time.lag + timedelta(seconds=1)})} if time is not None else {}
        sources[name] = source.model_copy(update=other)
    return config.model_copy(update={"source": sources})


def failed_in(problem: BaseException) -> str | None:
    """The line of what users ship that an exception comes from, "runtime/spark/session.py line 131"; None where it comes from the proof."""
    shipped = Path(__file__).parents[3]
    inside = [frame for frame in traceback.extract_tb(problem.__traceback__) if Path(frame.filename).is_relative_to(shipped)]
    if not inside:
        return None
    file = Path(inside[-1].filename).relative_to(shipped)
    return None if file.parts[0] in ("prove", "lab") else f"{file} line {inside[-1].lineno}"


def _widest_stage(spark: "SparkSession", run: str) -> int:
    """How many tasks the widest stage of a query's run had, of those that Spark remembers."""
    tracker = spark.sparkContext.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(run))
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return max((stage.numTasks for stage in stages if stage is not None), default=0)
