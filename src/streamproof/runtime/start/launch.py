"""Last step of a start: what waits is published, and Spark's stream begins: it runs the protocol batch by batch, or is looked at by it."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.config import output_of
from streamproof.runtime.batch.protocol import BatchProtocol
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
from streamproof.runtime.watching.idle import IdleSources
from streamproof.runtime.watching.leaps import Leaps
from streamproof.runtime.watching.measures import Measures
from streamproof.runtime.watching.noticed import Noticed
from streamproof.runtime.watching.quiet import QuietSources

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

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
    query, sinks, events = valid.query, valid.sinks, valid.events

    def admit(output: str) -> int:
        sinks[output].require(planned.columns[output_of(output)])
        return ownership.check_owner([sinks[output]], valid.incarnation, query.job, valid.manifests)

    recovered.publisher.begin(admit)
    protocol = (RealTimeProtocol if query.config.trigger.real_time else BatchProtocol)(
        spark=valid.spark,
        storage=valid.storage,
        identity=planned.identity,
        doors=planned.doors,
        manifests=valid.manifests,
        logs=valid.logs,
        sinks=sinks,
        targets=query.targets,
        publisher=recovered.publisher,
        sides=query.sides,
        columns=planned.columns,
        floats=planned.floats,
        root=query.root,
        whole_files=[source.whole_files for source in query.inputs.values()],
        events=events,
        leaps=Leaps(query.name),
        quiet=QuietSources(query.name, query.root.sources if query.root.stateful else ()),
        idle=_idle(valid),
        losses=recovered.losses,
        noticed=Noticed(valid.spark, query.inputs.values()),
        measures=_measures(valid),
        parking=recovered.parking,
        parked=planned.parked,
        steps=planned.steps,
        accept_replay=valid.start.accept_replay,
    )
    outputs = {name: query.places[name].where for name in sinks}
    first = max(valid.logs.batches("commits"), default=-1) + 1
    events.emit(QueryStarted(query.name, planned.identity.run, query.checkpoint, outputs, first))
    stream = _started(valid, planned, protocol)
    protocol.follow(stream)
    return RunningQuery(query.name, stream, protocol, valid.advise)


def _idle(valid: Validated) -> IdleSources:
    query = valid.query
    times = {name: source.event_time for name, source in query.sources.items()}
    after = {name: time.idle_after for name, time in times.items() if time is not None and time.idle_after is not None}
    union = query.root.stateful and len(query.root.sources) > 1
    idle = IdleSources(query.name, query.root.sources, after if union else {})
    idle.look_back(valid.logs)
    return idle


def _measures(valid: Validated) -> Measures:
    return Measures(list(valid.query.inputs.values()), valid.spark.conf.get(STATE_COUNTS, "false") == "true")


def _started(valid: Validated, planned: Planned, protocol: BatchProtocol) -> "StreamingQuery":
    query = valid.query
    if query.config.trigger.real_time:
        writer = _real_time(valid, planned)
        Marker(valid.storage, query.checkpoint).put()
    else:
        writer = _micro_batches(valid, planned, protocol)
    writer = writer.queryName(planned.identity.spark_name).option("checkpointLocation", query.checkpoint)
    try:
        stream: StreamingQuery = writer.start()
    except Exception as problem:
        raise translated(problem) from problem
    return stream


def _micro_batches(valid: Validated, planned: Planned, protocol: BatchProtocol) -> Any:
    """The writer that calls the protocol with the rows of each batch."""
    query = valid.query
    first = valid.sinks[query.targets[query.name][0]]
    rows = planned.rows if first.place.shared else first.encoded(planned.rows)
    writer = _jvm.for_each_batch(valid.spark, rows.writeStream.outputMode(query.root.emission.output_mode), protocol)
    interval = query.config.trigger.interval
    return writer.trigger(availableNow=True) if interval is None else writer.trigger(processingTime=_as_spark_says(interval))


def _real_time(valid: Validated, planned: Planned) -> Any:
    """The writer that sends each row to its topic at once; the protocol looks at batches that are over."""
    query = valid.query
    (name,), length = query.targets[query.name], query.config.trigger.interval
    sink = valid.sinks[name]
    sink.require(planned.columns[query.name])
    for key, value in _OF_REAL_TIME.items():
        valid.spark.conf.set(key, value)
    assert length is not None, "a batch of this trigger has a length"
    writer: Any = sink.streamed(planned.rows).outputMode("update")  # the overloads of PySpark 4.3 leave realTime out
    return writer.trigger(realTime=_as_spark_says(length))


def _as_spark_says(duration: timedelta) -> str:
    return f"{int(duration.total_seconds() * 1000)} milliseconds"
