"""Third step of a start: the streaming plan of the query, with its doors and sums, and whether the state in the checkpoint fits it (R25)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.connectors.event_time import accepted
from streamproof.connectors.sink import Sink
from streamproof.core.durations import format_duration
from streamproof.core.ids import new_id, short
from streamproof.core.notes import Note, NoteCode
from streamproof.runtime.batch.pacing import Pace
from streamproof.runtime.batch.staging import merged_schema
from streamproof.runtime.batch.started import Identity
from streamproof.runtime.binding.bound import BoundQuery
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.real_time.doors import RealTimeDoors
from streamproof.runtime.recovery import plans
from streamproof.runtime.rows.columns import Columns
from streamproof.runtime.rows.doors import SideDoors
from streamproof.runtime.rows.parking import require_writable
from streamproof.runtime.rows.tally import tallied
from streamproof.runtime.spark.session import STATE_STORES, slower_state, weaker_state
from streamproof.runtime.start import lineage
from streamproof.runtime.start.pace import pace_of
from streamproof.runtime.start.validate import Validated
from streamproof.runtime.tables.versions import QueryTables
from streamproof.stream.graph import Read, build
from streamproof.stream.identity import SPARK
from streamproof.stream.operators.operator import EventTimeColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from streamproof.config import SourceConfig


@dataclass(frozen=True)
class Planned:
    """A query as Spark will run it.

    Parameters
    ----------
    identity
        Who runs, and what the state is made by.
    doors
        The JVM's side of what leaves the plan by the way.
    rows
        The streaming rows of the main output, each summed on its way.
    columns
        What the rows of its outputs have.
    tables
        What it looks rows up in.
    pace
        How much its batches read.
    """

    identity: Identity
    doors: _jvm.Doors
    rows: "DataFrame"
    columns: Columns
    tables: QueryTables
    pace: Pace


def plan(valid: Validated) -> Planned:
    """Builds the plan of a query, compares it with the one that the checkpoint was made by, and tells the sinks their columns.

    Raises
    ------
    PlanChanged
        If the checkpoint has the state of another plan.
    ConfigurationError
        If the plan cannot be built, or a sink cannot take its columns.
    """
    query, spark, manifests, sinks, notes = valid.query, valid.spark, valid.journal.manifests, valid.sinks, list[Note]()
    run = short(new_id())
    pinned = valid.journal.logs.newest_settings()
    _keep_order_of_keys(spark, pinned)
    stores = spark.conf.get(STATE_STORES) if pinned is None else pinned.get(STATE_STORES)
    jvm_doors = _jvm.Doors(spark, query.checkpoint, run)
    directories = {side: _side_directory(sinks.first(name), name, manifests) for side, name in query.sides.items()}
    tables = QueryTables(spark, valid.journal, valid.events, run, query.tables, query.root.uses)
    doors = (RealTimeDoors if query.config.trigger.real_time else SideDoors)(jvm_doors, directories, tables.rows)
    weaker = weaker_state(query.config.spark) if query.root.stateful else None
    notes += [Note(NoteCode.WEAKER_STATE, weaker)] if weaker else []
    slower = slower_state(stores, real_time=query.config.trigger.real_time) if query.root.known_to_leave else None
    notes += [Note(NoteCode.SLOWER_STATE, slower)] if slower else []
    pace = pace_of(query, spark, valid.journal.logs)
    read = reads(query, spark, doors, stream=True, trace=valid.start.trace, intakes=pace.intakes, latency=valid.start.latency)
    built = build(query.root, read, doors)
    made_by = {**_made_by_sources(query), **built.made_by, SPARK: spark.version}
    notes += plans.require_same(manifests, made_by, parks=query.root.emission.parks, accept_lateness=valid.start.accept_lateness)
    identity = Identity(query.job, query.name, valid.incarnation, run, f"{query.job}.{query.name}.{run}", valid.topics, made_by)
    given, parked = built.rows, None
    if query.root.emission.parks:
        require_writable(given)
        parked, given = given.schema, doors.park(given, manifests.parked_directory)
    summed = tallied(given, jvm_doors, query.name, sums=query.root.sums)
    if summed.not_compared:
        said = (
            f"A batch of {query.name} that runs again is compared without {', '.join(summed.not_compared)}: what a text or a condition "
            "makes of a sum depends on the order in which floats are added, and what a sketch gives on that in which events arrive."
        )
        notes.append(Note(NoteCode.FLOAT_ORDER, said))
    valid.events.note(*notes)
    side_schemas = {side: merged_schema(shapes) for side, shapes in doors.shapes.items()}
    of_sides = {query.sides[side]: schema for side, schema in side_schemas.items() if side in query.sides}
    columns = {query.name: summed.rows.schema, **of_sides}
    if valid.start.lineage:
        valid.events.emit(lineage.planned(query, read, built, columns))
    for output, found in columns.items():
        for name in query.targets[output]:
            sinks.by_name[name].settle(found)
    return Planned(identity, jvm_doors, summed.rows, Columns(columns, summed.floats, summed.steps, parked), tables, pace)


def _keep_order_of_keys(spark: "SparkSession", pinned: Mapping[str, str] | None) -> None:
    """Plans with the order of keys that Spark goes on with by the newest offset log: "false" where that names none, as before Spark 4.3."""
    if pinned is not None:
        spark.conf.set(_jvm.KEY_ORDER, pinned.get(_jvm.KEY_ORDER, "false"))


def reads(
    query: BoundQuery,
    spark: "SparkSession",
    doors: Any,
    *,
    stream: bool,
    trace: bool,
    intakes: Mapping[str, str] | None = None,
    latency: bool = False,
) -> dict[str, Read]:
    """What comes from each source of a query; `intakes` names those whose limits are adapted (`Pace.intakes`).

    With `latency` the doors count the rows by their age, see `SideDoors.aged`.
    """
    named = intakes or {}
    rows = {
        name: source_rows(query, name, spark, doors, stream=stream, trace=trace, intake=named.get(name, ""), timed=latency)
        for name in query.sources
    }
    if latency:
        times = {name: event_time_of(source) for name, source in query.sources.items()}
        rows = {name: doors.aged(rows[name], name, None if time is None else time.column) for name, time in times.items()}
    return {name: Read(rows[name], event_time_of(source)) for name, source in query.sources.items()}


def source_rows(
    query: BoundQuery,
    name: str,
    spark: "SparkSession",
    doors: Any,
    *,
    stream: bool,
    trace: bool,
    intake: str = "",
    timed: bool = False,
) -> "DataFrame":
    """The accepted rows of one of a query's sources."""
    source = query.inputs[name]
    return accepted(source.read(spark, stream=stream, trace=trace, intake=intake, timed=timed), name, source.config, doors)


def event_time_of(source: "SourceConfig") -> EventTimeColumn | None:
    declared = source.event_time
    return None if declared is None else EventTimeColumn(declared.column, declared.lag)


def _made_by_sources(query: BoundQuery) -> dict[str, str]:
    """What the state of a query owes to its sources; the parts of a further one bear its name."""
    (first, source), *others = query.sources.items()
    parts = _source_parts(first, source)
    for name, other in others:
        parts |= {
            f"{part} of {name}" if part != "source" else f"source {name}": said for part, said in _source_parts(name, other).items()
        }
    return parts


def _source_parts(name: str, source: "SourceConfig") -> dict[str, str]:
    """What the state of a query owes to its source (R25): which it is, and how its event time is read."""
    parts = {"source": f"{name} ({source.connector})"}
    declared = source.event_time
    if declared is not None:
        written = (declared.column, declared.unit, declared.format, declared.zone)
        parts |= {"event time": ", ".join(part for part in written if part), "lag": format_duration(declared.lag)}
    return parts


def _side_directory(sink: Sink, output: str, manifests: ManifestStore) -> str:
    """JSON sinks take the side files as they are; for other formats they are read back and written once more."""
    return sink.place.staging if sink.place.format == "json" else manifests.side_directory(output)
