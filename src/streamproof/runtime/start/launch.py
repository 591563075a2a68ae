"""Last step of a start: what waits is published, and Spark's stream begins: it runs the protocol batch by batch, or is looked at by it."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.config import output_of
from streamproof.core.account import OF_A_BATCH
from streamproof.runtime.batch.commits import Commits
from streamproof.runtime.batch.deciding import Deciding
from streamproof.runtime.batch.describing import Describing
from streamproof.runtime.batch.protocol import BatchProtocol
from streamproof.runtime.batch.staging import Staging
from streamproof.runtime.batch.started import StartedQuery
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.query import RunningQuery
from streamproof.runtime.real_time.marker import Marker
from streamproof.runtime.real_time.protocol import RealTimeProtocol
from streamproof.runtime.recovery import ownership
from streamproof.runtime.spark.failures import translated
from streamproof.runtime.spark.session import STATE_COUNTS
from streamproof.runtime.start.plan import Planned
from streamproof.runtime.start.recover import Recovered
from streamproof.runtime.start.validate import Validated
from streamproof.runtime.watching.events import QueryStarted
from streamproof.runtime.watching.hot_keys import HotKeys
from streamproof.runtime.watching.idle import IdleSources
from streamproof.runtime.watching.leaps import Leaps
from streamproof.runtime.watching.measures import Measures
from streamproof.runtime.watching.noticed import Noticed
from streamproof.runtime.watching.quiet import QuietSources
from streamproof.runtime.watching.watch import Watch

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_PARTITIONS = "spark.sql.shuffle.partitions"
_OF_REAL_TIME = {
    # Of so many batches Spark says what they have read, until the protocol asks; of its own accord of a hundred.
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    # Spark refuses a checkpoint that an older Spark has written: its files of state could be written over. These jobs have no state.
    "spark.sql.streaming.realTimeMode.dangerouslyAllowCheckpointV1.enabled": "true",
}
"""Settings of a query with the real-time trigger."""


def launch(valid: Validated, recovered: Recovered, planned: Planned) -> RunningQuery:
    """Starts the query.

    Raises
    ------
    StreamproofError
        If an output that may fall behind is not ours or does not take the rows, or Spark does not start the stream.
    """
    query, sinks, journal = valid.query, valid.sinks.by_name, valid.journal

    def admit(output: str) -> int:
        sinks[output].require(planned.columns.of_outputs[output_of(output)])
        return ownership.check_owner([sinks[output]], valid.incarnation, query.job, journal.manifests)

    recovered.publisher.begin(admit)
    protocol = _protocol(valid, recovered, planned)
    outputs = {name: query.places[name].where for name in sinks}
    first = max(journal.logs.batches("commits"), default=-1) + 1
    counts = _counted_before(journal.manifests, first)
    interval = None if valid.start.one_batch else query.config.trigger.interval
    started = QueryStarted(
        query.name,
        planned.identity.run,
        query.checkpoint,
        outputs,
        first,
        counts,
        trigger_seconds=None if interval is None else interval.total_seconds(),
        resumes=max(journal.logs.batches("offsets"), default=-1) >= first,
    )
    valid.events.emit(started)
    stream = _started(valid, planned, protocol)
    protocol.follow(stream)
    return RunningQuery(query.name, stream, protocol, valid.advise, for_ever=interval is not None)


def _counted_before(manifests: ManifestStore, first: int) -> dict[str, int]:
    """The account of the batches before `first`: each manifest has the totals since the checkpoint began."""
    newest = next((manifest for manifest in manifests.newest_first() if manifest.batch < first), None)
    return {key: newest.counts.get(f"total.{key}", 0) if newest else 0 for key in OF_A_BATCH}


def _protocol(valid: Validated, recovered: Recovered, planned: Planned) -> BatchProtocol:
    """The protocol of a query, made of its parts."""
    query, publisher, parking = valid.query, recovered.publisher, recovered.parking
    started = StartedQuery(
        identity=planned.identity,
        root=query.root,
        spark=valid.spark,
        sinks=valid.sinks,
        journal=valid.journal,
        events=valid.events,
        whole_files=[source.whole_files for source in query.inputs.values()],
    )
    watch = Watch(
        leaps=Leaps(query.name),
        quiet=QuietSources(query.name, query.root.sources if query.root.stateful else ()),
        idle=_idle(valid),
        noticed=Noticed(valid.spark, query.inputs.values()),
        hot_keys=_hot_keys(valid),
    )
    protocol = (RealTimeProtocol if query.config.trigger.real_time else BatchProtocol)(
        query=started,
        staging=Staging(started, planned.doors, planned.columns, parking),
        describing=Describing(started, recovered.losses),
        deciding=Deciding(started, publisher, parking, valid.start.accept_replay),
        publisher=publisher,
        losses=recovered.losses,
        watch=watch,
        commits=Commits(valid.journal.logs, valid.events, _measures(valid)),
        parking=parking,
        tables=planned.tables if planned.tables.tables else None,
        pace=planned.pace,
    )
    planned.tables.failed = protocol.fails
    return protocol


def _idle(valid: Validated) -> IdleSources:
    query = valid.query
    times = {name: source.event_time for name, source in query.sources.items()}
    after = {name: time.idle_after for name, time in times.items() if time is not None and time.idle_after is not None}
    union = query.root.stateful and len(query.root.sources) > 1
    idle = IdleSources(query.name, query.root.sources, after if union else {})
    idle.look_back(valid.journal.logs)
    return idle


def _hot_keys(valid: Validated) -> HotKeys:
    """By the partitions that the checkpoint has its state in."""
    pinned = valid.journal.logs.newest_settings() or {}
    partitions = int(pinned.get(_PARTITIONS) or valid.spark.conf.get(_PARTITIONS, "200") or 200)
    columns = {operator.name: operator.grouped_by for operator in reversed(valid.query.root.keeping)}
    return HotKeys(valid.query.name, partitions, columns)


def _measures(valid: Validated) -> Measures:
    return Measures(list(valid.query.inputs.values()), valid.spark.conf.get(STATE_COUNTS, "false") == "true")


def _started(valid: Validated, planned: Planned, protocol: BatchProtocol) -> "StreamingQuery":
    query = valid.query
    if query.config.trigger.real_time:
        writer = _real_time(valid, planned)
        Marker(valid.journal.storage, query.checkpoint).put()
    else:
        writer = _micro_batches(valid, planned, protocol)
    writer = writer.queryName(planned.identity.spark_name).option("checkpointLocation", query.checkpoint)
    try:
        stream: StreamingQuery = writer.start()
    except Exception as problem:
        raise translated(problem, has_rows=False) from problem
    return stream


def _micro_batches(valid: Validated, planned: Planned, protocol: BatchProtocol) -> Any:
    """The writer that calls the protocol with the rows of each batch."""
    query = valid.query
    first = valid.sinks.first(query.name)
    rows = planned.rows if first.place.shared else first.encoded(planned.rows)
    writer = _jvm.for_each_batch(valid.spark, rows.writeStream.outputMode(query.root.emission.output_mode), protocol)
    interval = query.config.trigger.interval
    if valid.start.one_batch:  # of a batch that is planned already Spark does that one, and plans no other
        return writer.trigger(once=True)
    return writer.trigger(availableNow=True) if interval is None else writer.trigger(processingTime=_as_spark_says(interval))


def _real_time(valid: Validated, planned: Planned) -> Any:
    """The writer that sends each row to its topic at once; the protocol looks at batches that are over."""
    query = valid.query
    (name,), length = query.targets[query.name], query.config.trigger.interval
    sink = valid.sinks.by_name[name]
    sink.require(planned.columns.of_outputs[query.name])
    for key, value in _OF_REAL_TIME.items():
        valid.spark.conf.set(key, value)
    assert length is not None, "a batch of this trigger has a length"
    writer: Any = sink.streamed(planned.rows).outputMode("update")  # the overloads of PySpark 4.3 leave realTime out
    return writer.trigger(realTime=_as_spark_says(length))


def _as_spark_says(duration: timedelta) -> str:
    return f"{int(duration.total_seconds() * 1000)} milliseconds"
