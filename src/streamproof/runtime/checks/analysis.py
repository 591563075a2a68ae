"""`check --spark`: the plan of every query as `run` would build it, analysed by Spark; nothing is started, and nothing is written."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.connectors.files.formats import require_columns
from streamproof.errors import StreamproofError
from streamproof.runtime.batch.staging import merged_schema
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.real_time.doors import RealTimeDoors
from streamproof.runtime.rows.doors import SideDoors
from streamproof.runtime.rows.parking import require_writable
from streamproof.runtime.rows.tally import tallied
from streamproof.runtime.spark.connector_jars import connector_jars
from streamproof.runtime.spark.failures import translated
from streamproof.runtime.spark.session import give_settings, settings_of_query, start_session, state_stores
from streamproof.runtime.spark.settings import guard
from streamproof.runtime.start.plan import reads
from streamproof.runtime.tables.now import tables_now
from streamproof.stream.graph import build
from streamproof.stream.names import visible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from streamproof.config import JobConfig
    from streamproof.runtime.binding.bound import BoundJob, BoundQuery

_NOBODY = "not-written"
"""In place of the directories that tasks would write to: none runs."""


def analysed(config: "JobConfig", *, spark: "SparkSession | None" = None) -> dict[str, str | StreamproofError]:
    """By query the columns of its output in words, or what `run` would say of its plan.

    Schemas of registries and of files are read; brokers, tables and checkpoints are not asked.

    Parameters
    ----------
    spark
        A session to use; one is started, and ended, where none is given.

    Raises
    ------
    StreamproofError
        If Spark does not start, or the job cannot be bound.
    """
    if spark is not None:
        return _by_query(config, spark)
    with tempfile.TemporaryDirectory(prefix="streamproof-") as folder:
        own = start_session(config.name, config.spark, jars=connector_jars(config), log=Path(folder, "spark.log"))
        try:
            return _by_query(config, own)
        finally:
            own.stop()


def _by_query(config: "JobConfig", spark: "SparkSession") -> dict[str, str | StreamproofError]:
    bound, found = bind(config), dict[str, str | StreamproofError]()
    for name in bound.outputs.main:
        try:
            found[name] = _analysed(bound, name, spark.newSession())
        except StreamproofError as problem:
            found[name] = problem
    return found


def _analysed(bound: "BoundJob", name: str, spark: "SparkSession") -> str:
    query = bound.query(name)
    try:
        columns = _columns(query, spark)
    except Exception as problem:
        raise translated(problem, has_rows=False) from problem
    for output, found in columns.items():
        for target in query.targets[output]:
            place = query.places[target]
            if place.service is None:
                require_columns(spark, target, place.published or place.format, found)
    shown = [
        f"{field.name} {field.dataType.simpleString()}" for field in columns[name].fields if field.name in visible([field.name])
    ]
    return ", ".join(shown)


def _columns(query: "BoundQuery", spark: "SparkSession") -> "dict[str, StructType]":
    """By output the columns of its rows; the steps are those of a start (`start/plan.py`), without checkpoint, sinks and state."""
    guard(spark, query.config.spark)
    real_time = query.config.trigger.real_time
    settings = settings_of_query(query.config.spark, state_stores(real_time=real_time), holds_rows=query.root.holds_rows)
    give_settings(spark, {**settings, **query.root.settings})
    jvm_doors = _jvm.Doors(spark, query.checkpoint, _NOBODY)
    doors = (RealTimeDoors if real_time else SideDoors)(
        jvm_doors, dict.fromkeys(query.sides, _NOBODY), tables_now(query, spark, looked_at=False)
    )
    rows = build(query.root, reads(query, spark, doors, stream=True, trace=False), doors).rows
    if query.root.emission.parks:
        require_writable(rows)
        rows = doors.park(rows, _NOBODY)
    main = tallied(rows, jvm_doors, query.name, sums=query.root.sums).rows.schema
    sides = {query.sides[side]: merged_schema(shapes) for side, shapes in doors.shapes.items() if side in query.sides}
    return {query.name: main, **sides}
