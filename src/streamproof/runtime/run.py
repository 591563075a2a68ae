"""`streamproof run`: starts the queries of a job, waits, and says where every record is."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.core.clock import monotonic_seconds
from streamproof.errors import ConfigurationError, EndedFromOutside, StreamproofError
from streamproof.runtime.adding_up import require_adds_up
from streamproof.runtime.as_planned import do_again_as_planned
from streamproof.runtime.backups import Backups, backups_of
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.binding.sinks import sink_of
from streamproof.runtime.ending import end_all, end_beside
from streamproof.runtime.failing import failure_of, in_query, keep_failure, said_first
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.pulse import PulseTaker
from streamproof.runtime.query import RunningQuery
from streamproof.runtime.real_time.slots import require_slots
from streamproof.runtime.spark.connector_jars import connector_jars
from streamproof.runtime.spark.environment import find_spark
from streamproof.runtime.spark.failures import telling_of_a_dead_jvm, translated
from streamproof.runtime.spark.session import start_session
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query
from streamproof.runtime.summary import summary
from streamproof.runtime.watching.events import (
    Emitter,
    Fetching,
    Listener,
    QueryFinishing,
    RunEnded,
    RunFailed,
    SparkStarting,
)
from streamproof.runtime.watching.listeners import listeners_in
from streamproof.runtime.watching.result import RunResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.config import JobConfig
    from streamproof.runtime.binding.bound import BoundJob

_LOOK_EVERY_SECONDS = 1
_PATIENCE_SECONDS = 30.0
"""How long a run that has read everything waits for a store that is down."""


def run_job(
    config: "JobConfig",
    *,
    spark: "SparkSession | None" = None,
    new_output: str | None = None,
    replace_output: bool = False,
    accept_replay: int | None = None,
    accept_topics: Sequence[str] = (),
    accept_lateness: bool = False,
    accept_missing: bool = False,
    replay_last: bool = False,
    latency: bool = False,
    lineage: bool = False,
    end: threading.Event | None = None,
    listener: Listener | Iterable[Listener] | None = None,
    log: Path | None = None,
) -> RunResult:
    """Runs a job until its input is worked through, or for ever with an interval trigger.

    Parameters
    ----------
    spark
        A session to use; one is started where none is given.
    new_output
        Writes the outputs to this path instead of the configured one (R1).
    replace_output
        Deletes what the outputs hold before a new checkpoint starts (R1).
    accept_replay
        Goes on after `NondeterministicReplay` of this batch with what is published.
    accept_topics
        Goes on in these topics although they are not those that the checkpoint has read: their records have the same offsets.
    accept_lateness
        Goes on although the source's delay or an allowed lateness is another one than the checkpoint was made with.
    accept_missing
        Goes on although published batches are gone from an output.
    replay_last
        Computes the newest batch again from its recorded input, after the checkpoint was damaged.
    latency
        Measures how old records are when readers get them; each batch says it (`BatchCommitted.latency`).
    lineage
        Has each query say what it reads and writes, once its plan is made (`QueryPlanned`).
    end
        Is set by whoever wants the run to end: between two batches if that is within ten seconds, else in the middle of one, which is done
        again by the next start.
    listener
        Is called with each event of the run (`runtime/watching/events.py`), in the thread that does the work; one, or several in their order.
    log
        The file that takes what Spark and its JVM say, of a session that is started here; None leaves it on standard error.

    Raises
    ------
    AccountError
        If the account of a query does not add up; it has the result.
    StreamproofError
        What stopped the job, with the remedy.
    KeyboardInterrupt
        If it was asked to end before its queries ran, or the JVM was ended with it.
    """
    find_spark()
    emitter, end = Emitter(*listeners_in(listener)), end or threading.Event()
    start = Start(
        accept_replay=accept_replay,
        accept_topics=tuple(accept_topics),
        accept_lateness=accept_lateness,
        accept_missing=accept_missing,
        replay_last=replay_last,
        latency=latency,
        lineage=lineage,
        emitter=emitter,
    )
    backups: Backups | None = None
    try:
        backups = backups_of(config, emitter.emit)
        if backups is not None:
            emitter.also(backups)
        with telling_of_a_dead_jvm(asked_to_end=end.is_set):
            session = spark or _session(config, emitter, log)
            _require_wanted(end)
            bound = bind(config, new_output=new_output)
            if config.trigger.real_time:
                require_slots(bound, session)
            if replace_output:
                delete_outputs(bound, session)
            started = monotonic_seconds()
            queries, ended_early = _run(bound, session, start, end)
            if backups is not None:
                backups.finish(asked_to_end=ended_early)
            result = summary(bound, queries, emitter, monotonic_seconds() - started, ended_early=ended_early)
            result = result if backups is None else replace(result, notes=[*result.notes, *backups.notes])
        emitter.emit(RunEnded(result))
        result = replace(result, notes=list(dict.fromkeys((*result.notes, *emitter.failures))))  # at the last event too
        require_adds_up(result, bound.outputs.main)
    except StreamproofError as problem:
        failure = failure_of(problem, config.name)
        keep_failure(problem, failure)
        emitter.emit(RunFailed(type(problem).__name__, said_first(problem), problem.code, failure))
        raise
    finally:
        if backups is not None:
            backups.end()
    return result


def _run(bound: "BoundJob", session: "SparkSession", start: Start, end: threading.Event) -> tuple[list[RunningQuery], bool]:
    """Starts the queries and waits until they have read everything and published it; whether they were asked to end before that."""
    queries: list[RunningQuery] = []
    try:
        for query in bound.outputs.main:
            _require_wanted(end)
            with in_query(query):
                notes = do_again_as_planned(bound, query, session, start, end)
                _require_wanted(end)
                queries.append(start_query(bound, query, session.newSession(), start))
            queries[-1].notes.extend(notes)
        _wait(queries, end)
        for running in queries if not end.is_set() else ():
            start.emitter.emit(QueryFinishing(running.name, asked_to_end=False))
            with in_query(running.name, running.protocol):
                running.protocol.finish(_PATIENCE_SECONDS, end.is_set)
        ended_early = end.is_set()
        if ended_early:
            end_all(queries, start.emitter)
    except StreamproofError as problem:
        end_beside(problem, queries, start.emitter, end.is_set)
        _stop(queries)
        raise
    except BaseException as problem:  # Ctrl-C too: nothing goes on after an error
        _stop(queries)
        if _jvm.is_of_spark(problem) and not _jvm.is_gone(problem):  # what waits for a service is published beside the queries, too
            raise translated(problem) from problem
        raise
    return queries, ended_early


def _stop(queries: list[RunningQuery]) -> None:
    for running in queries:
        running.stop()


def _require_wanted(end: threading.Event) -> None:
    """KeyboardInterrupt if the run was asked to end before it began."""
    if end.is_set():
        raise KeyboardInterrupt


def _session(config: "JobConfig", emitter: Emitter, log: Path | None) -> "SparkSession":
    jars = connector_jars(config, lambda name, done, size: emitter.emit(Fetching(name, done, size)))
    emitter.emit(SparkStarting(config.name))
    return start_session(config.name, config.spark, jars=jars, log=log)


def _wait(queries: list[RunningQuery], end: threading.Event) -> None:
    """Waits for all queries, or until asked to end; notices the first that fails while others still run."""
    running, pulse = list(queries), PulseTaker(queries, queries[0].protocol.events.emitter)
    while running and not end.is_set():
        running = [query for query in running if not _has_ended(query, end)]
        for query in queries:  # with a long interval, or no new input, nobody else would
            with in_query(query.name, query.protocol):
                query.protocol.look_for_commit()
        for query in running:
            with in_query(query.name, query.protocol):
                query.protocol.publisher.catch_up_unless_busy()
        pulse.take()


def _has_ended(query: RunningQuery, end: threading.Event) -> bool:
    with in_query(query.name, query.protocol):
        ended = query.wait(_LOOK_EVERY_SECONDS)
        if ended and query.for_ever and not end.wait(_LOOK_EVERY_SECONDS):  # who ends the JVM tells us too, a moment later
            raise EndedFromOutside(
                f"The query {query.name} has ended without an error, and nobody has asked this run to end.",
                required="It goes on until the run is told to end: something else has stopped it, such as a call of stop() in the job's code.",
                remedy="Start it again; it goes on where it was.",
            )
        return ended


def delete_outputs(bound: "BoundJob", spark: "SparkSession") -> None:
    """Empties the outputs, for a checkpoint that is new; ConfigurationError if the checkpoint has batches."""
    storage = _jvm.Storage(spark)
    for query in bound.outputs.main:
        if ManifestStore(storage, bound.checkpoint(query)).begun():
            raise ConfigurationError(
                f"--replace-output would delete the output of the checkpoint {bound.checkpoint(query)}, which has batches.",
                remedy="Delete that checkpoint too if you want to start over.",
            )
    sinks = [sink_of(bound.config, place, spark, storage) for place in bound.places.values()]
    for sink in sinks:  # all, or none
        sink.require_clearable()
    for sink in sinks:
        sink.clear()
