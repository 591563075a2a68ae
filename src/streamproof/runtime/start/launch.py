"""Last step of a start: what waits is published, and Spark's stream runs the protocol batch by batch."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.config import output_of
from streamproof.connectors.files.source import CONTAINERS
from streamproof.runtime import ownership
from streamproof.runtime.batch import BatchProtocol
from streamproof.runtime.events import QueryStarted
from streamproof.runtime.failures import translated
from streamproof.runtime.idle import IdleSources
from streamproof.runtime.leaps import Leaps
from streamproof.runtime.parking import Parking
from streamproof.runtime.query import RunningQuery
from streamproof.runtime.quiet import QuietSources
from streamproof.runtime.start.plan import Planned
from streamproof.runtime.start.recover import Recovered
from streamproof.runtime.start.validate import Validated

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from streamproof.runtime.bound import BoundQuery


def launch(valid: Validated, recovered: Recovered, planned: Planned) -> RunningQuery:
    """Starts the query.

    Raises
    ------
    StreamproofError
        If an output that may lag is not ours or does not take the rows, or Spark does not start the stream.
    """
    query, sinks, events = valid.query, valid.sinks, valid.events

    def admit(output: str) -> int:
        sinks[output].require(planned.columns[output_of(output)])
        return ownership.check_owner([sinks[output]], valid.incarnation, query.job, valid.manifests)

    recovered.publisher.begin(admit)
    protocol = BatchProtocol(
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
        recipe=query.recipe,
        whole_files=[source.format if source.format in CONTAINERS else "" for source in query.sources.values()],
        events=events,
        leaps=Leaps(query.name),
        quiet=QuietSources(query.name, query.recipe.sources if query.recipe.stateful else ()),
        idle=_idle(valid),
        losses=recovered.losses,
        parking=_parking(recovered, planned),
        steps=planned.steps,
        accept_replay=valid.start.accept_replay,
    )
    outputs = {name: query.places[name].where for name in sinks}
    events.emit(QueryStarted(query.name, planned.identity.run, query.checkpoint, outputs))
    return RunningQuery(query.name, _stream(valid, planned, protocol), protocol)


def _idle(valid: Validated) -> IdleSources:
    query = valid.query
    times = {name: source.event_time for name, source in query.sources.items()}
    after = {name: time.idle_after for name, time in times.items() if time is not None and time.idle_after is not None}
    union = query.recipe.stateful and len(query.recipe.sources) > 1
    idle = IdleSources(query.name, query.recipe.sources, after if union else {})
    idle.look_back(valid.logs)
    return idle


def _parking(recovered: Recovered, planned: Planned) -> Parking | None:
    if recovered.parking is None or planned.parked is None:
        return None
    return replace(recovered.parking, schema=planned.parked)


def _stream(valid: Validated, planned: Planned, protocol: BatchProtocol) -> "StreamingQuery":
    query = valid.query
    first = valid.sinks[query.targets[query.name][0]]
    rows = planned.rows if first.place.shared else first.encoded(planned.rows)
    writer = rows.writeStream.queryName(planned.identity.spark_name)
    writer = writer.option("checkpointLocation", query.checkpoint).outputMode(query.recipe.emission.output_mode)
    try:
        stream: StreamingQuery = _triggered(_jvm.for_each_batch(valid.spark, writer, protocol), query).start()
    except Exception as problem:
        raise translated(problem) from problem
    return stream


def _triggered(writer: Any, query: "BoundQuery") -> Any:
    interval = query.config.trigger.interval
    if interval is None:
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=f"{int(interval.total_seconds() * 1000)} milliseconds")
