"""The row-wise part of a job over all events, by one Spark batch query: what the oracle starts from, and the batch equivalence.

Row-wise steps decide about each record alone, so they give the same answer in a batch query as in a stream.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from streamproof.core.durations import micros_of
from streamproof.prove.oracle.arrived import Arrived, RowFate, plain
from streamproof.prove.oracle.expectation import WindowKey
from streamproof.prove.oracle.shape import QueryShape
from streamproof.runtime.query import event_time_of, source_rows
from streamproof.stream.plan import HIDDEN, MADE, ORIGINAL, TRACE, aggregated, batch_deduplicated, row_wise

if TYPE_CHECKING:
    from streamproof.runtime.binding import BoundJob


@dataclass
class CollectingDoors:
    """Doors that keep what leaves as DataFrames, and let the rest pass by plain filters."""

    left: list[DataFrame] = field(default_factory=list)

    def clock(self) -> Column:
        return F.unix_micros(F.current_timestamp())

    def reject(self, rows: DataFrame, reason: Column) -> DataFrame:
        self.left.append(
            rows.filter(reason.isNotNull()).select(_trace(rows), F.lit("rejected").alias("fate"), reason.alias("reason"))
        )
        return rows.filter(reason.isNull())

    def drop(self, rows: DataFrame, keep: Column, name: str) -> DataFrame:
        self.left.append(rows.filter(~keep).select(_trace(rows), F.lit("filtered").alias("fate"), F.lit(name).alias("reason")))
        return rows.filter(keep)

    def late(self, rows: DataFrame, event_time: Column, window_us: int = 0) -> DataFrame:
        return rows


def _in_micros(rows: DataFrame) -> DataFrame:
    """The same with instants as microseconds UTC (bigint): as datetimes PySpark would give them in the time zone of this process."""
    instants = [field.name for field in rows.schema.fields if isinstance(field.dataType, TimestampType)]
    return rows.select(*[F.unix_micros(name).alias(name) if name in instants else F.col(name) for name in rows.columns])


def _trace(rows: DataFrame) -> Column:
    """The trace column; of a record that could not be parsed, from its original bytes."""
    if ORIGINAL not in rows.columns:
        return F.col(TRACE).alias(TRACE)
    original = F.regexp_extract(F.decode(F.col(ORIGINAL).cast("binary"), "ISO-8859-1"), r'"_trace"\s*:\s*"([^"]+)"', 1)
    return F.coalesce(F.col(TRACE), original).alias(TRACE)


def shape_of(bound: "BoundJob", query: str) -> QueryShape:
    """What the oracle has to know of a query."""
    recipe = bound.outputs.main[query]
    declared = bound.config.source[recipe.source].event_time
    aggregate, deduplicate = recipe.aggregate, recipe.deduplicate
    return QueryShape(
        query=query,
        event_time_column=declared.column if declared else None,
        delay_us=(micros_of(declared.lag) if declared else 0) + micros_of(recipe.allowed_lateness),
        window_us=micros_of(aggregate.window.size) if aggregate else None,
        by=aggregate.by if aggregate else (),
        aggregates=tuple(aggregate.aggregates) if aggregate else (),
        deduplicate=deduplicate.key if deduplicate else None,
        max_future_us=micros_of(declared.max_future) if declared and declared.max_future is not None else None,
    )


class Arrivals:
    """The events of one query behind its row-wise steps.

    `arrived` has one entry per record; `survivors_table` gives the job's batch result over some of them.
    """

    def __init__(self, bound: "BoundJob", query: str, spark: SparkSession) -> None:
        self._bound, self._query, self._spark = bound, query, spark
        self._recipe = bound.outputs.main[query]
        self.shape = shape_of(bound, query)
        doors = CollectingDoors()
        rows = source_rows(bound, self._recipe.source, spark, doors, stream=False, trace=True)
        self._passed = row_wise(self._recipe, rows, doors).drop(ORIGINAL, MADE).cache()
        self.traced = TRACE in self._passed.columns
        self.arrived: Mapping[str, Arrived] = self._collect(doors)
        self._kept: dict[tuple[str, ...], dict[WindowKey, dict[str, Any]]] = {}

    def _collect(self, doors: CollectingDoors) -> dict[str, Arrived]:
        found: dict[str, Arrived] = {}
        for left in doors.left:
            for row in left.collect():
                found[row[TRACE]] = Arrived(row[TRACE], RowFate(row["fate"]), row["reason"])
        if not self.traced:
            return found
        columns = [F.col(TRACE)]
        time = self.shape.event_time_column
        instant = F.unix_micros(F.col(time)) if time is not None and time in self._passed.columns else F.lit(None)
        columns.append(instant.alias("_us"))
        keys = (*self.shape.by, *(self.shape.deduplicate or ()))
        columns += [F.col(name).alias(f"_k{number}") for number, name in enumerate(keys)]
        cut = 2 + len(self.shape.by)
        for row in _in_micros(self._passed.select(*columns)).collect():
            dedup = tuple(plain(value) for value in row[cut:]) if self.shape.deduplicate else None
            found[row[0]] = Arrived(row[0], RowFate.PASSED, None, row[1], tuple(plain(value) for value in row[2:cut]), dedup)
        return found

    @cached_property
    def rows(self) -> Mapping[str, Mapping[str, Any]]:
        """The columns of every record that passes, by trace."""
        columns = [name for name in self._passed.columns if name != TRACE]
        collected = _in_micros(self._passed.select(TRACE, *columns)).collect()
        return {row[0]: {name: plain(value) for name, value in zip(columns, row[1:], strict=True)} for row in collected}

    def batch_result(self, survivors: Sequence[str]) -> dict[WindowKey, dict[str, Any]]:
        """The columns of each window's row by the job's own code as a batch query over the surviving records; kept per set of survivors."""
        identity = tuple(survivors)
        if identity not in self._kept:
            self._kept[identity] = self._aggregated(survivors)
        return self._kept[identity]

    def _aggregated(self, survivors: Sequence[str]) -> dict[WindowKey, dict[str, Any]]:
        time = event_time_of(self._bound.config.source[self._recipe.source])
        assert time is not None
        chosen = self._spark.createDataFrame([(trace,) for trace in survivors], f"{TRACE} string")
        rows = self._passed.join(F.broadcast(chosen), TRACE, "leftsemi")
        if self._recipe.deduplicate is not None:
            rows = batch_deduplicated(rows, self._recipe.deduplicate, time.column)
        found: dict[WindowKey, dict[str, Any]] = {}
        for row in _in_micros(aggregated(self._recipe, rows, time.column)).collect():
            values = {name: plain(value) for name, value in row.asDict().items()}
            key = (tuple(values[name] for name in self.shape.by), values["window_start"])
            found[key] = {name: value for name, value in values.items() if name not in HIDDEN}
        return found
