"""The row-wise part of what the user asked for, over all events, by Spark batch queries of the oracle's own (R28).

Conditions and transforms are the user's, in the order of the calls; neither the product's reading nor its plan is in it. Row-wise steps
decide about each record alone, so they give the same answer in a batch query as in a stream.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from streamproof._jvm import float_steps
from streamproof.core.clock import LAST_MICROS
from streamproof.prove.artifacts.float_order import Steps
from streamproof.prove.oracle.arrived import Arrived, RowFate, plain
from streamproof.prove.oracle.asked import Asked, Call, reason_of
from streamproof.prove.oracle.expectation import Expectation, RowKey
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.scenario.generate import TRACE, Event
from streamproof.prove.subjects.job.aggregated import BESIDE, Aggregated, stated
from streamproof.stream.aggregates import Accumulator
from streamproof.stream.aggregates.declared import columns_of
from streamproof.stream.names import quoted

_START, _END = "_window_start_us", "_window_end_us"
_OUTER = ("_outer_start_us", "_outer_end_us")
"""Of the window whose row comes out; where it stands behind another, the first two are those of that one."""
_REVISION = "_revision"
_BOUNDS = (_START, _END, *_OUTER, _REVISION)
_SHOWN = ("window_start", "window_end")
_HIDDEN = ("_records", "_trace_hash")
"""What a transform behind an aggregate may select: the job's plan has them. In the second the oracle takes along what judges sketches."""


Rows = tuple[tuple[RowKey, tuple[str, ...]], ...]
"""The rows of windows, with the events that each is of."""


class Arrivals:
    """The events of one query behind its row-wise calls.

    Parameters
    ----------
    rows
        By source the events that can be read, from `plain_rows`.
    refused
        The others: every source rejects them.
    source_of
        By trace the source of each event, where there are several.

    `arrived` has one entry per record; `batch_result` gives the aggregates that were asked for over some of them.
    """

    def __init__(
        self,
        asked: Asked,
        shape: QueryShape,
        rows: Mapping[str, DataFrame],
        refused: Sequence[Event],
        source_of: Mapping[str, str] | None = None,
    ) -> None:
        self.asked, self.shape = asked, shape
        self._spark: SparkSession = rows[asked.source].sparkSession
        self._left: list[DataFrame] = []
        self._source_of = source_of or {}
        parts = [self._row_wise(branch, rows[branch.source]) for branch in asked.branches]
        self._passed = reduce(DataFrame.unionByName, parts).cache()
        self.traced = TRACE in self._passed.columns
        self.arrived: Mapping[str, Arrived] = self._collected(refused)
        self._kept: dict[Rows, dict[RowKey, dict[str, Any]]] = {}

    def _row_wise(self, asked: Asked, rows: DataFrame) -> DataFrame:
        for call in asked.calls:
            if call.method == "require":
                rows = self._required(rows, call)
            elif call.method == "filter":
                rows = self._parted(rows, _column(call.given["condition"]), RowFate.FILTERED, F.lit(call.given["name"]))
            else:
                rows = call.given["function"](rows)
        return rows

    def _required(self, rows: DataFrame, call: Call) -> DataFrame:
        """Every condition must be true; the first that is not is the reason."""
        reasons, all_hold = [], F.lit(True)
        for name, condition in call.given["conditions"].items():
            holds, said = _column(condition), reason_of(name, condition)
            reasons.append(F.when(holds.isNull(), F.lit(f"{said} (is null)")).when(~holds, F.lit(said)))
            all_hold = all_hold & F.coalesce(holds, F.lit(False))
        return self._parted(rows, all_hold, RowFate.REJECTED, F.coalesce(*reasons))

    def _parted(self, rows: DataFrame, keep: Column, fate: RowFate, reason: Column) -> DataFrame:
        keep = F.coalesce(keep, F.lit(False))
        if TRACE in rows.columns:
            self._left.append(rows.filter(~keep).select(TRACE, F.lit(str(fate)).alias("fate"), reason.alias("reason")))
        return rows.filter(keep)

    def _collected(self, refused: Sequence[Event]) -> dict[str, Arrived]:
        found = {event.trace: self._left_by(event.trace, RowFate.REJECTED) for event in refused}
        for left in self._left:
            for row in left.collect():
                found[row[TRACE]] = self._left_by(row[TRACE], RowFate(row["fate"]), row["reason"])
        if not self.traced:
            return found
        columns = [F.col(TRACE)]
        time = self.shape.event_time_column
        instant = F.unix_micros(F.col(time)) if time is not None and time in self._passed.columns else F.lit(None)
        columns.append(instant.alias("_us"))
        keys = (*self.shape.entered.by, *(self.shape.deduplicate or ()))
        columns += [F.col(name).alias(f"_k{number}") for number, name in enumerate(keys)]
        order, gap = self.shape.order_by, self.asked.gap
        columns.append((F.lit(None) if order is None else F.col(quoted(order))).alias("_order"))
        columns.append((F.lit(None) if gap is None else F.col(quoted(gap.column))).alias("_gap"))
        made = self.shape.stateful and any(call.method == "transform" for branch in self.asked.branches for call in branch.calls)
        cut, without = 2 + len(self.shape.entered.by), []
        for row in _in_micros(self._passed.select(*columns)).collect():
            own = gap.judged(row["_gap"]) if gap is not None else None
            if isinstance(own, str):
                found[row[0]] = self._left_by(row[0], RowFate.REJECTED, own)
                without.append(row[0])
                continue
            if made and not _usable(row[1]):
                found[row[0]] = self._left_by(row[0], RowFate.REJECTED, f"no event time in {time}")
                without.append(row[0])
                continue
            dedup = tuple(plain(value) for value in row[cut : 2 + len(keys)]) if self.shape.deduplicate else None
            by, source = tuple(plain(value) for value in row[2:cut]), self._source_of.get(row[0], "")
            found[row[0]] = Arrived(row[0], RowFate.PASSED, None, row[1], by, dedup, source, plain(row["_order"]), own)
        if without:
            self._passed = self._passed.filter(~F.col(TRACE).isin(without))
        return found

    def _left_by(self, trace: str, fate: RowFate, reason: str | None = None) -> Arrived:
        return Arrived(trace, fate, reason, source=self._source_of.get(trace, ""))

    @cached_property
    def rows(self) -> Mapping[str, Mapping[str, Any]]:
        """The columns of every record that passes, by trace."""
        columns = [name for name in self._passed.columns if name != TRACE]
        collected = _in_micros(self._passed.select(TRACE, *columns)).collect()
        return {row[0]: {name: plain(value) for name, value in zip(columns, row[1:], strict=True)} for row in collected}

    @cached_property
    def steps(self) -> Steps:
        """How far the aggregates of two right runs may be apart, since the order in which floats are added is not fixed; of types alone."""
        if self.shape.window is None:
            return {}
        rows = self._rows_of_first(self._passed.withColumns({name: F.lit(0).cast("bigint") for name in _BOUNDS}))
        asked = self._asked_aggregates
        made = [column.alias(name) for name, column in columns_of(asked, rows).items()]
        return float_steps(self._windows(rows, [*made, F.count(F.lit(1)).alias(BESIDE)], [F.col(quoted(name)) for name in asked]))

    @cached_property
    def _asked_aggregates(self) -> Mapping[str, Any]:
        aggregates: Mapping[str, Any] = self.asked.every("aggregate")[-1]["aggregates"]
        return aggregates

    @property
    def passed(self) -> DataFrame:
        """What reaches the first operator with state."""
        return self._passed

    @property
    def accumulators(self) -> Mapping[str, Accumulator]:
        """The declared accumulators by name."""
        asked = self._asked_aggregates if self.shape.window is not None else {}
        return {name: one for name, one in asked.items() if isinstance(one, Accumulator)}

    @property
    def stated(self) -> frozenset[str]:
        """The columns that are compared by a stated error, in the windows that were judged so far."""
        return stated(self._kept.values())

    def batch_result(self, model: Expectation) -> dict[RowKey, dict[str, Any]]:
        """The columns of each row that a window gives: the aggregates that were asked for, over the events that the model has in it then.

        Kept per set of rows.
        """
        rows = tuple((key, contents.traces) for key, contents in model.rows.items())
        if rows not in self._kept:
            self._kept[rows] = self._aggregated(model)
        return self._kept[rows]

    def _aggregated(self, model: Expectation) -> dict[RowKey, dict[str, Any]]:
        placed = [
            (trace, inner_start, inner.end_us, key[1], contents.end_us, revision)
            for (key, revision), contents in model.rows.items()
            for (_, inner_start), inner in contents.parts or ((key, contents),)
            for trace in inner.traces
        ]
        traces, *bounds = ([pair[number] for pair in placed] for number in range(6))
        columns = {name: pa.array(instants, pa.int64()) for name, instants in zip(_BOUNDS, bounds, strict=True)}
        # From a list of rows PySpark would start Python workers.
        chosen = self._spark.createDataFrame(pa.table({TRACE: pa.array(traces, pa.string()), **columns}))
        rows = self._rows_of_first(self._passed.join(F.broadcast(chosen), TRACE))
        aggregated = Aggregated(self._asked_aggregates, rows)
        shown = self._windows(rows, aggregated.grouped(), aggregated.shown())
        found: dict[RowKey, dict[str, Any]] = {}
        for row in _in_micros(shown).collect():
            values = {name: plain(row[name]) for name in shown.columns if name not in _HIDDEN}
            key = (tuple(values[name] for name in self.shape.by), values["window_start"])
            found[key, values.get("revision", 0) if self.shape.revised else 0] = aggregated.judged(values, row[_HIDDEN[1]])
        return found

    def _rows_of_first(self, rows: DataFrame) -> DataFrame:
        """What the window whose row comes out is of: the rows as they are, or those of the window before it."""
        if self.shape.before is None:
            return rows
        made = self.asked.every("aggregate")[0]["aggregates"]
        aggregates = [F.count(F.lit(1)).alias(_HIDDEN[0]), *(column.alias(name) for name, column in made.items())]
        shown = {name: F.timestamp_micros(bound) for name, bound in zip(_SHOWN, (_START, _END), strict=True)}
        return rows.groupBy(*_BOUNDS, *self.shape.entered.by).agg(*aggregates).withColumns(shown)

    def _windows(self, rows: DataFrame, grouped: Sequence[Column], aggregates: Sequence[Column]) -> DataFrame:
        """The aggregates that were asked for, and what is done behind them, by the bounds of each window."""
        records = F.sum(_HIDDEN[0]) if self.shape.before is not None else F.count(F.lit(1))
        groups = rows.groupBy(*_OUTER, _REVISION, *self.shape.by).agg(records.alias(_HIDDEN[0]), *grouped)
        start, end = (F.timestamp_micros(name).alias(shown) for name, shown in zip(_OUTER, _SHOWN, strict=True))
        hidden = F.col(_HIDDEN[0]), F.col(BESIDE).alias(_HIDDEN[1])
        revision = [F.col(_REVISION).alias("revision")] if self.shape.revised else []
        shown = groups.select(*hidden, *self.shape.by, start, end, *revision, *aggregates)
        for call in self.asked.behind_aggregate:
            shown = call.given["function"](shown)
        return shown


def _column(condition: Any) -> Column:
    return F.expr(condition) if isinstance(condition, str) else condition


def _usable(time_us: int | None) -> bool:
    return time_us is not None and -LAST_MICROS <= time_us <= LAST_MICROS


def _in_micros(rows: DataFrame) -> DataFrame:
    """The same with instants as microseconds UTC (bigint): as datetimes PySpark would give them in the time zone of this process."""
    instants = [field.name for field in rows.schema.fields if isinstance(field.dataType, TimestampType)]
    return rows.select(*[F.unix_micros(name).alias(name) if name in instants else F.col(name) for name in rows.columns])
