"""Starting one query of a job: its plan, its doors, its sinks, and Spark's stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.config import FilesSource, KafkaSource, output_of
from streamproof.connectors.event_time import accepted
from streamproof.connectors.files import source as files
from streamproof.connectors.kafka import source as kafka
from streamproof.connectors.sink import Sink
from streamproof.connectors.steps import UNWATCHED, Steps
from streamproof.core.clock import monotonic_seconds
from streamproof.core.durations import format_duration
from streamproof.core.ids import new_id, short
from streamproof.errors import StreamproofError
from streamproof.runtime import formats, ownership, plans, published, recovery
from streamproof.runtime.batch import BatchProtocol, Identity, RunEnds, merged_schema
from streamproof.runtime.binding import BoundJob
from streamproof.runtime.doors import SideDoors
from streamproof.runtime.failures import translated
from streamproof.runtime.leaps import Leaps
from streamproof.runtime.logs import QueryLogs
from streamproof.runtime.losses import Losses
from streamproof.runtime.manifests import ManifestStore
from streamproof.runtime.publishing import Publisher
from streamproof.runtime.session import settings_of_query, weaker_state
from streamproof.runtime.settings import guard
from streamproof.runtime.tally import tallied
from streamproof.stream.plan import EventTimeColumn, Plan, build

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

    from streamproof.config import SourceConfig

_LOOK_EVERY_SECONDS = 1


@dataclass(frozen=True)
class Start:
    """How a query is started: with the hidden trace column of proofs, and what of a contradiction somebody has accepted.

    Parameters
    ----------
    accept_replay, accept_topics, accept_lateness, accept_missing, replay_last
        As in `run_job`.
    steps
        Told of what becomes durable in services.
    """

    trace: bool = False
    accept_replay: int | None = None
    accept_topics: tuple[str, ...] = ()
    accept_lateness: bool = False
    accept_missing: bool = False
    replay_last: bool = False
    steps: Steps = UNWATCHED


@dataclass
class RunningQuery:
    """A started query with its protocol."""

    name: str
    stream: "StreamingQuery"
    protocol: BatchProtocol
    notes: list[str] = field(default_factory=list)

    def wait(self, seconds: int | None = None) -> bool:
        """Waits for the end of the query, at most so many seconds; whether it has ended.

        Raises
        ------
        StreamproofError
            What stopped it, in our words where we know them.
        """
        try:
            ended = self.stream.awaitTermination(seconds)
        except Exception as problem:  # noqa: BLE001 -- what PySpark raises for a query that died has no common type
            cause = self.protocol.failure
            if isinstance(cause, RunEnds):
                return True
            if isinstance(cause, StreamproofError):
                raise cause from None
            raise translated(cause or problem) from (cause or problem)
        return ended is not False

    def end(self, patience_seconds: float) -> bool:
        """Ends the query between two batches, or in the middle of one that takes longer than this; whether it was between two.

        Raises
        ------
        StreamproofError
            What stopped it meanwhile.
        """
        deadline = monotonic_seconds() + patience_seconds
        between = not self.stream.status["isTriggerActive"]
        while not between and monotonic_seconds() < deadline:
            between = not self.stream.status["isTriggerActive"] or self.wait(_LOOK_EVERY_SECONDS)
        if self.stream.exception() is not None:  # it has died by itself: at our asking, or of what `wait` raises
            self.wait(_LOOK_EVERY_SECONDS)
        self.stop()
        return between

    def begin_no_more(self) -> None:
        """No batch begins from now on."""
        self.protocol.ending = True

    def stop(self) -> None:
        """Ends the query where it still runs; a batch under way is interrupted, and done again by the next start.

        What cannot be interrupted, such as a call to a store that does not answer, is left where it is: it ends with this process.
        """
        try:
            self.stream.stop()
        except Exception:  # noqa: BLE001 -- Spark's patience is over, or the JVM is gone; neither has a type of its own
            self.notes.append(f"{self.name} did not stop in time; what it was doing ends with this process.")


def start_query(bound: BoundJob, query: str, spark: "SparkSession", start: Start) -> RunningQuery:
    """Starts the query of one main output on a session of its own.

    Raises
    ------
    StreamproofError
        If a setting of the process takes a guarantee away, the plan cannot be built, the output belongs to another incarnation, or the
        checkpoint is not whole, or of a format that is not known.
    """
    notes = list(guard(spark, bound.config.spark))
    for key, value in settings_of_query(bound.config.spark).items():
        spark.conf.set(key, value)
    storage = _jvm.Storage(spark)
    formats.require_known(bound, spark, storage)
    checkpoint = bound.checkpoint(query)
    sides = bound.sides_of(query)
    manifests = ManifestStore(storage, checkpoint)
    logs = QueryLogs(storage, checkpoint)
    incarnation = manifests.incarnation(bound.name, query)
    targets = {output: bound.targets(output) for output in (query, *sides.values())}
    sinks = {
        name: bound.sink(name, spark, storage, incarnation=incarnation, steps=start.steps)
        for names in targets.values()
        for name in names
    }
    ownership.check_owner([sink for sink in sinks.values() if not sink.may_lag], incarnation, bound.name, manifests)
    notes += recovery.restore_logs(storage, logs, manifests, sinks)
    ownership.require_places(manifests, sinks)
    source = bound.config.source[bound.outputs.main[query].source]
    topics = _same_source(bound, query, spark, manifests, start)
    if start.replay_last:
        notes += recovery.roll_back(storage, logs, manifests, sinks)
    _finish_interrupted(logs, manifests, sinks, notes)
    ownership.require_nothing_waits(storage, bound.config.resolve(bound.config.checkpoint), manifests, bound.places)
    committed = logs.batches("commits")
    losses = Losses(storage, checkpoint, accept=start.accept_missing)
    _require_published(manifests, sinks, committed, notes, losses, start)
    columns: dict[str, StructType] = {}

    def admit(output: str) -> int:
        sinks[output].require(columns[output_of(output)])
        return ownership.check_owner([sinks[output]], incarnation, bound.name, manifests)

    limits = {output: place.service.backlog for output, place in bound.places.items() if place.service is not None}
    publisher = Publisher(manifests, sinks, admit, limits, notes, accepted=start.accept_replay, losses=losses)
    # Of its commits Spark keeps the newest; what waits may be older, and keeps its manifest.
    publisher.look_back(sorted({*committed, *(number for number in manifests.batches() if committed and number <= committed[-1])}))
    recovery.remove_orphans(storage, manifests, sinks, publisher.open_batches, publisher.unseen)

    run = short(new_id())
    jvm_doors = _jvm.Doors(spark, checkpoint, run)
    doors = SideDoors(jvm_doors, {kind: _side_directory(sinks[targets[name][0]], name, manifests) for kind, name in sides.items()})
    stateful = bound.outputs.main[query].aggregate is not None
    weaker = weaker_state(bound.config.spark) if bound.outputs.main[query].stateful else None
    notes += [weaker] if weaker else []
    plan = _plan(bound, query, spark, doors, trace=start.trace)
    made_by = {**_source_parts(bound.outputs.main[query].source, source), **plan.made_by}
    notes += plans.require_same(manifests, made_by, accept_lateness=start.accept_lateness)
    identity = Identity(bound.name, query, incarnation, run, f"{bound.name}.{query}.{run}", topics, made_by)
    summed = tallied(plan.rows, jvm_doors, query, stateful=stateful)
    if summed.not_compared:
        notes.append(
            f"A batch of {query} that runs again is compared without {', '.join(summed.not_compared)}: what a text or a condition makes of "
            "a sum depends on the order in which floats are added."
        )
    side_schemas = {kind: merged_schema(shapes) for kind, shapes in doors.shapes.items()}
    columns.update({query: summed.rows.schema, **{sides[kind]: schema for kind, schema in side_schemas.items() if kind in sides}})
    for output, found in columns.items():
        for name in targets[output]:
            sinks[name].settle(found)
    publisher.begin()
    protocol = BatchProtocol(
        spark=spark,
        storage=storage,
        identity=identity,
        doors=jvm_doors,
        manifests=manifests,
        logs=logs,
        sinks=sinks,
        targets=targets,
        publisher=publisher,
        sides=sides,
        columns=columns,
        floats=summed.floats,
        stateful=stateful,
        whole_files=source.format == "parquet",
        notes=notes,
        leaps=Leaps(query),
        losses=losses,
        accept_replay=start.accept_replay,
    )
    first = sinks[targets[query][0]]
    rows = summed.rows if first.place.shared else first.encoded(summed.rows)
    writer = rows.writeStream.queryName(identity.spark_name).option("checkpointLocation", checkpoint).outputMode("append")
    try:
        stream = _triggered(_jvm.for_each_batch(spark, writer, protocol), bound).start()
    except Exception as problem:
        raise translated(problem) from problem
    return RunningQuery(query, stream, protocol, notes)


def _same_source(bound: BoundJob, query: str, spark: "SparkSession", manifests: ManifestStore, start: Start) -> dict[str, str]:
    """Looks whether a query's source is the one that the checkpoint has read; the ids of its topics by name."""
    name = bound.outputs.main[query].source
    source = bound.config.source[name]
    if isinstance(source, FilesSource):
        ownership.require_source(manifests, bound.config.resolve(source.path))
    if not isinstance(source, KafkaSource):
        return {}
    ownership.require_topics(manifests, source.topic)
    topics = kafka.require(spark, name, source)
    ownership.require_same_topics(manifests, topics, start.accept_topics)
    return topics


def _finish_interrupted(logs: QueryLogs, manifests: ManifestStore, sinks: Mapping[str, Sink], notes: list[str]) -> None:
    """Lets the sinks put right what a power failure has left of the batch that a crash has interrupted."""
    interrupted = recovery.open_manifest(logs, manifests)
    if interrupted is not None:
        ownership.require_outputs(interrupted, sinks)
        notes += recovery.mend_publications(interrupted, sinks)


def _require_published(
    manifests: ManifestStore, sinks: Mapping[str, Sink], committed: list[int], notes: list[str], losses: Losses, start: Start
) -> None:
    """Looks whether what was published is there, and whole, and publishes what is not yet; see `published.require_all`."""
    if not start.replay_last:  # of several that are gone only the newest comes back; the run says what the account leaves out
        published.require_account(manifests, committed)
    published.require_all(manifests, sinks, committed, notes, losses)
    published.require_whole(manifests, sinks, committed)
    recovery.publish_open(manifests, sinks, committed, losses.outputs)


def source_rows(bound: BoundJob, name: str, spark: "SparkSession", doors: Any, *, stream: bool, trace: bool) -> "DataFrame":
    """The accepted rows of a source."""
    source = bound.config.source[name]
    if isinstance(source, KafkaSource):
        rows = kafka.read(spark, name, source, stream=stream, trace=trace)
    else:
        assert isinstance(source, FilesSource), "every connector has its reader"
        rows = files.read(spark, name, source, bound.config.resolve(source.path), stream=stream, trace=trace)
    return accepted(rows, name, source, doors)


def event_time_of(source: "SourceConfig") -> EventTimeColumn | None:
    declared = source.event_time
    return None if declared is None else EventTimeColumn(declared.column, declared.lag)


def _source_parts(name: str, source: "SourceConfig") -> dict[str, str]:
    """What the state of a query owes to its source (R25): which it is, and how its event time is read."""
    parts = {"source": f"{name} ({source.connector})"}
    declared = source.event_time
    if declared is not None:
        written = (declared.column, declared.unit, declared.format, declared.zone)
        parts |= {"event time": ", ".join(part for part in written if part), "lag": format_duration(declared.lag)}
    return parts


def _plan(bound: BoundJob, query: str, spark: "SparkSession", doors: SideDoors, *, trace: bool) -> Plan:
    recipe = bound.outputs.main[query]
    rows = source_rows(bound, recipe.source, spark, doors, stream=True, trace=trace)
    return build(recipe, rows, event_time_of(bound.config.source[recipe.source]), doors)


def _side_directory(sink: Sink, output: str, manifests: ManifestStore) -> str:
    """JSON sinks take the side files as they are; for other formats they are read back and written once more."""
    return sink.place.staging if sink.place.format == "json" else manifests.side_directory(output)


def _triggered(writer: Any, bound: BoundJob) -> Any:
    interval = bound.config.trigger.interval
    if interval is None:
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=f"{int(interval.total_seconds() * 1000)} milliseconds")
