"""`streamproof run`: starts the queries of a job, waits, and says where every record is."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.checkpoint.state import OpenWindows, open_windows
from streamproof.config import KafkaSource
from streamproof.core.account import Account
from streamproof.core.clock import from_micros, monotonic_seconds
from streamproof.core.manifest import Manifest
from streamproof.errors import ConfigurationError
from streamproof.runtime.adding_up import require_adds_up
from streamproof.runtime.binding import BoundJob, bind
from streamproof.runtime.connector_jars import connector_jars
from streamproof.runtime.failures import jvm_gone, translated
from streamproof.runtime.lag import PartitionLag, lag_of
from streamproof.runtime.leaps import Leap
from streamproof.runtime.manifests import ManifestStore
from streamproof.runtime.publishing import Behind, Publisher
from streamproof.runtime.query import RunningQuery, Start, start_query
from streamproof.runtime.session import start_session
from streamproof.runtime.several_queries import prices

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.config import JobConfig

_LOOK_EVERY_SECONDS = 1
_PATIENCE_SECONDS = 30.0
"""How long a run that has read everything waits for a store that is down."""
_PATIENCE_AT_END_SECONDS = 10.0
"""How long a run that is asked to end waits for the batch that is under way: whoever sends SIGTERM kills it some 30 seconds later."""
_PLACES = ("emitted", "late", "rejected", "duplicate", "filtered")


@dataclass(frozen=True)
class OutputResult:
    """An output of a run: where it went, its format, rows published by this run, its guarantee, and reasons with their counts."""

    name: str
    where: str
    format: str
    rows: int
    guarantee: str
    reasons: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryAccount:
    """The account of one query since its checkpoint began; `input` counts its records.

    `unknown_since` is the batch from which it is not known, since a manifest was lost or a replay accepted; None where it is known.
    """

    query: str
    input: int
    account: Account
    unknown_since: int | None = None

    @property
    def adds_up(self) -> bool:
        return self.input == self.account.total


@dataclass(frozen=True)
class RunResult:
    """What a run did. `account` and `account_input` are those of the first query; `accounts` has all.

    `batches` counts those `without_input` too: Spark runs one when the watermark has gone on, to close windows. `lag` has the partitions
    of the topics that are read. `leaps` has of each query whose watermark leapt the furthest leap. `ended_early` says that it was asked to
    end: there may be more to read.
    """

    job: str
    batches: int
    without_input: int
    rows_in: int
    seconds: float
    outputs: list[OutputResult]
    account: Account
    account_input: int
    open_windows: int
    closes_after: datetime | None
    notes: list[str]
    accounts: list[QueryAccount]
    lag: list[PartitionLag] = field(default_factory=list)
    leaps: list[Leap] = field(default_factory=list)
    ended_early: bool = False


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
    end: threading.Event | None = None,
    told: Callable[[str], None] | None = None,
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
        Goes on although the source's lag or an allowed lateness is another one than the checkpoint was made with.
    accept_missing
        Goes on although published batches are gone from an output.
    replay_last
        Computes the newest batch again from its recorded input, after the checkpoint was damaged.
    end
        Is set by whoever wants the run to end: between two batches if that is within ten seconds, else in the middle of one, which is done
        again by the next start.
    told
        Hears in a few words what is being done.
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
    tell, end = told or _nobody, end or threading.Event()
    session = spark or _session(config, tell, log)
    _require_wanted(end)
    bound = bind(config)
    if new_output is not None:
        bound = with_new_output(bound, new_output)
    if replace_output:
        delete_outputs(bound, session)
    started = monotonic_seconds()
    start = Start(
        accept_replay=accept_replay,
        accept_topics=tuple(accept_topics),
        accept_lateness=accept_lateness,
        accept_missing=accept_missing,
        replay_last=replay_last,
    )
    queries: list[RunningQuery] = []
    try:
        for query in bound.outputs.main:
            _require_wanted(end)
            tell(f"looking at checkpoint and outputs of {query}")
            queries.append(start_query(bound, query, session.newSession(), start))
        _wait(queries, tell, end)
        for running in queries if not end.is_set() else ():
            tell(f"waiting for what {running.name} still has to publish")
            running.protocol.finish(_PATIENCE_SECONDS, end.is_set)
        ended_early = end.is_set()
        if ended_early:
            _end(queries, tell)
    except BaseException as problem:  # Ctrl-C too: nothing goes on behind an error
        for running in queries:
            running.stop()
        if end.is_set() and _jvm.is_gone(problem):  # whoever ends us may have ended the JVM too
            raise KeyboardInterrupt from problem
        if _jvm.is_gone(problem):
            raise jvm_gone() from problem
        if _jvm.is_of_spark(problem):  # what waits for a service is published beside the queries, too
            raise translated(problem) from problem
        raise
    result = replace(_result(bound, queries, session, monotonic_seconds() - started), ended_early=ended_early)
    require_adds_up(result, bound.outputs.main)
    return result


def _require_wanted(end: threading.Event) -> None:
    """KeyboardInterrupt if the run was asked to end before it began."""
    if end.is_set():
        raise KeyboardInterrupt


def _session(config: "JobConfig", tell: Callable[[str], None], log: Path | None) -> "SparkSession":
    jars = connector_jars(config, lambda name, done, size: tell(f"fetching {name}, {done >> 20} of {size >> 20} MB"))
    tell("starting Spark")
    return start_session(config.name, config.spark, jars=jars, log=log)


def _wait(queries: list[RunningQuery], tell: Callable[[str], None], end: threading.Event) -> None:
    """Waits for all queries, or until asked to end; says how far they are, and notices the first that fails while others still run."""
    running = list(queries)
    while running and not end.is_set():
        done = max(query.protocol.done.batches for query in queries)
        tell(f"batch {done}, {queries[0].protocol.done.input:,} rows in{_said_behind(queries)}")
        running = [query for query in running if not query.wait(_LOOK_EVERY_SECONDS)]
        for query in running:  # with a long interval, or no new input, nobody else would
            query.protocol.publisher.catch_up_unless_busy()


def _end(queries: list[RunningQuery], tell: Callable[[str], None]) -> None:
    """Ends all queries within the patience, and notes what is left to do."""
    deadline = monotonic_seconds() + _PATIENCE_AT_END_SECONDS
    for running in queries:
        running.begin_no_more()
    for running in queries:
        tell(f"ending {running.name} behind the batch that is under way")
        if not running.end(deadline - monotonic_seconds()):
            running.notes.append(f"A batch of {running.name} was under way; the next start does it again, and doubles nothing.")
        publisher = running.protocol.publisher
        running.notes += [f"{_waits(each, publisher)} The next start publishes them first." for each in publisher.behind]


def _said_behind(queries: list[RunningQuery]) -> str:
    """The outputs that are down, with what waits for them, when they are asked again, and why."""
    publishers = [query.protocol.publisher for query in queries]
    return "".join(
        f"; {_waits(each, publisher)} Asked again in {max(1, round(each.seconds))} s"
        for publisher in publishers
        for each in publisher.behind
    )


def _waits(behind: Behind, publisher: Publisher) -> str:
    batches = "1 batch waits" if behind.batches == 1 else f"{behind.batches:,} batches wait"
    return f"{batches} for {behind.output}: {publisher.reasons[behind.output].message.rstrip('.')}."


def _nobody(_: str) -> None:
    """Nobody listens."""


def with_new_output(bound: BoundJob, path: str) -> BoundJob:
    """The same job writing its first main output to another path, the others beside it."""
    first, *_ = bound.targets(next(iter(bound.outputs.main)))
    places = {}
    for name, place in bound.places.items():
        if place.service is not None:
            raise ConfigurationError(
                f"--new-output is for folders, and {name} goes to {place.where}.",
                remedy=f"Bind [sink.{name}] to another table, topic or prefix.",
            )
        target = bound.config.resolve(path) if name == first else f"{bound.config.resolve(path)}-{name}"
        places[name] = replace(place, path=target)
    return replace(bound, places=places)


def delete_outputs(bound: BoundJob, spark: "SparkSession") -> None:
    """Empties the outputs, for a checkpoint that is new; ConfigurationError if the checkpoint has batches."""
    storage = _jvm.Storage(spark)
    for query in bound.outputs.main:
        if ManifestStore(storage, bound.checkpoint(query)).begun():
            raise ConfigurationError(
                f"--replace-output would delete the output of the checkpoint {bound.checkpoint(query)}, which has batches.",
                remedy="Delete that checkpoint too if you want to start over.",
            )
    sinks = [bound.sink(output, spark, storage) for output in bound.places]
    for sink in sinks:  # all, or none
        sink.require_clearable()
    for sink in sinks:
        sink.clear()


def account_of(query: str, newest: Manifest | None, opened: OpenWindows) -> QueryAccount:
    """The account of a query from the totals of its newest manifest and its window state."""
    counts = newest.counts if newest else {}
    totals = {place: counts.get(f"total.{place}", 0) for place in _PLACES}
    account = Account.of({**totals, "open_state": opened.records})
    return QueryAccount(query, counts.get("total.input", 0), account, newest.unknown_since if newest else None)


def _said_unknown(account: QueryAccount) -> str:
    return (
        f"The account of {account.query} is unknown since batch {account.unknown_since}: a manifest was lost, or a replay accepted. What is "
        "published stands as it is; counts begin anew with a new checkpoint."
    )


def _said_pending(query: RunningQuery) -> str:
    outputs = ", ".join(sorted(query.protocol.losses.outputs))
    return f"No new batch has written down yet what was accepted as lost of {outputs}: the next one does, and until then no start asks again."


def _result(bound: BoundJob, queries: list[RunningQuery], spark: "SparkSession", seconds: float) -> RunResult:
    outputs: list[OutputResult] = []
    accounts: list[QueryAccount] = []
    notes: list[str] = list(prices(bound.outputs.main))
    ends: list[Manifest] = []
    first_open = OpenWindows(0, 0, None)
    for query in queries:
        newest = _newest_committed(query)
        ends += [] if newest is None else [newest]
        stateful = query.protocol.stateful and newest is not None
        opened = open_windows(spark, bound.checkpoint(query.name)) if stateful else OpenWindows(0, 0, None)
        first_open = opened if query is queries[0] else first_open
        accounts.append(account_of(query.name, newest, opened))
        outputs.extend(_outputs(bound, query))
        if accounts[-1].unknown_since is not None:
            query.notes.append(_said_unknown(accounts[-1]))
        if query.protocol.losses.outputs:
            query.notes.append(_said_pending(query))
        notes.extend(note for note in query.notes if note not in notes)  # each query says what was set from outside
    leaps = [leap for query in queries if (leap := query.protocol.leaps.furthest) is not None]
    notes += [leap.note for leap in leaps]
    for result in outputs:
        place = bound.places[result.name]
        if not place.bound:
            notes.append(f"The output {result.name} has no [sink.{result.name}]; its rows are kept at {place.where}.")
    used = {recipe.source for recipe in bound.outputs.main.values()}
    topics = {name: source for name, source in bound.config.source.items() if isinstance(source, KafkaSource) and name in used}
    lag = lag_of(spark, topics, ends, notes) if topics else []
    total, longest = accounts[0], max((query.protocol.done for query in queries), key=lambda done: done.batches)
    return RunResult(
        job=bound.name,
        batches=longest.batches,
        without_input=longest.without_input,
        rows_in=queries[0].protocol.done.input,
        seconds=seconds,
        outputs=outputs,
        account=total.account,
        account_input=total.input,
        open_windows=first_open.windows,
        closes_after=None if first_open.latest_end_us is None else from_micros(first_open.latest_end_us),
        notes=notes,
        accounts=accounts,
        lag=lag,
        leaps=leaps,
    )


def _newest_committed(query: RunningQuery) -> Manifest | None:
    """The manifest of the newest batch that Spark has committed: one that was interrupted is not in the state either."""
    committed = query.protocol.logs.batches("commits")
    numbers = [number for number in query.protocol.manifests.batches() if committed and number <= committed[-1]]
    return query.protocol.manifests.read(numbers[-1]) if numbers else None


def _outputs(bound: BoundJob, query: RunningQuery) -> list[OutputResult]:
    found, done = [], query.protocol.done
    for output, sink in query.protocol.sinks.items():
        place = bound.places[output]
        reasons = dict(done.reasons) if place.kind == "rejected" else {}
        found.append(OutputResult(output, place.where, place.shown_format, done.rows[output], sink.guarantee, reasons))
    return found
