"""The row-wise part of what the user asked for, over all events, by Spark batch queries of the oracle's own (R28).

Conditions and transforms are the user's, in the order of the calls; neither the product's reading nor its plan is in it. Row-wise steps
decide about each record alone, so they give the same answer in a batch query as in a stream.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from streamproof._jvm import float_steps
from streamproof.core.clock import LAST_MICROS
from streamproof.prove.artifacts.float_order import Steps
from streamproof.prove.oracle.arrived import Arrived, RowFate, Tables, plain
from streamproof.prove.oracle.expectation import BatchOutcome, Expectation
from streamproof.prove.oracle.operators.twin import Grouped, Twin
from streamproof.prove.oracle.query import Query
from streamproof.prove.oracle.rows import RowKey
from streamproof.prove.oracle.tables import HoldsRules, LooksUp
from streamproof.prove.scenario.generate import TRACE, Event
from streamproof.prove.subjects.job.aggregated import BESIDE, Aggregated, stated
from streamproof.prove.subjects.job.joined import columns_of_side, joined_rows
from streamproof.prove.subjects.job.table_states import TableState, TableStates, alternatives
from streamproof.stream.aggregates import Accumulator
from streamproof.stream.aggregates.declared import columns_of
from streamproof.stream.names import FOUND, quoted

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
Read = tuple[tuple[Tables, tuple[str, ...]], ...]
"""What tables held while each batch read its records; empty without tables."""


@dataclass(frozen=True)
class _OneByOne:
    """Rows that operators look at one by one (`Rows` of the oracle), what they have left out so far, by trace, and what tables hold."""

    rows: DataFrame
    left: list[DataFrame] = field(default_factory=list)
    tables: Mapping[str, TableState] = field(default_factory=dict)

    def through(self, twins: Sequence[Twin]) -> "_OneByOne":
        return reduce(lambda rows, twin: twin.applied(rows), twins, self)

    def required(self, conditions: Iterable[tuple[str, Any]]) -> "_OneByOne":
        """Every condition must be true; the first that is not is the reason."""
        reasons, all_hold = [], F.lit(True)
        for said, condition in conditions:
            holds = _column(condition)
            reasons.append(F.when(holds.isNull(), F.lit(f"{said} (is null)")).when(~holds, F.lit(said)))
            all_hold = all_hold & F.coalesce(holds, F.lit(False))
        return self._parted(all_hold, RowFate.REJECTED, F.coalesce(*reasons))

    def kept(self, condition: Any, name: str) -> "_OneByOne":
        return self._parted(_column(condition), RowFate.FILTERED, F.lit(name))

    def made(self, function: Callable[[Any], Any]) -> "_OneByOne":
        return _OneByOne(function(self.rows), self.left, self.tables)

    def looked_up(self, twin: LooksUp) -> "_OneByOne":
        """The oracle says which row of the table each row gets; Spark only puts their columns side by side."""
        beside = _OneByOne(self.tables[twin.table].beside(self.rows, twin), self.left, self.tables)
        there = F.coalesce(F.col(FOUND), F.lit(False))
        kept = beside if twin.keeps_all else beside._parted(there, RowFate.UNMATCHED, F.lit(twin.unmatched))
        return _OneByOne(kept.rows.drop(FOUND), kept.left, self.tables)

    def ruled(self, twin: HoldsRules) -> "_OneByOne":
        """Each rule is a condition of the user's, held against all rows by a batch query of its own."""
        return _OneByOne(self.tables[twin.table].ruled(self.rows, twin), self.left, self.tables)

    def _parted(self, keep: Column, fate: RowFate, reason: Column) -> "_OneByOne":
        keep, left = F.coalesce(keep, F.lit(False)), self.left
        if TRACE in self.rows.columns:
            out = self.rows.filter(~keep).select(TRACE, F.lit(str(fate)).alias("fate"), reason.alias("reason"))
            left = [*left, out]
        return _OneByOne(self.rows.filter(keep), left, self.tables)


@dataclass(frozen=True)
class _Input:
    """The rows that come to one input of the first operator with state, and the column of their event time."""

    rows: DataFrame
    time: str | None

    def named(self, name: str) -> str:
        """A column by its whole name; a name that is none may be of a field inside one."""
        return quoted(name) if name in self.rows.columns else name


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
    tables
        What each table that rows are looked up in can hold.

    `arrived` has one entry per record, by what the tables hold first; `by_tables` has those by everything that they can hold. `batch_result`
    gives the aggregates that were asked for over some of them.
    """

    def __init__(
        self,
        query: Query,
        rows: Mapping[str, DataFrame],
        refused: Sequence[Event],
        source_of: Mapping[str, str] | None = None,
        tables: TableStates | None = None,
    ) -> None:
        self.query = query
        self._spark: SparkSession = rows[query.sources[0]].sparkSession
        self._source_of = source_of or {}
        self.by_tables: dict[Tables, Mapping[str, Arrived]] = {}
        self._inputs_by: dict[Tables, list[_Input]] = {}
        for held, states in alternatives(tables or {}, query.tables):
            parts = {way.source: _OneByOne(rows[way.source], [], states).through(way.steps) for way in query.ways}
            inputs = [
                _Input(
                    reduce(DataFrame.unionByName, [parts[source].rows for source in sources]).cache(),
                    query.clock_of(sources[0]).column,
                )
                for sources in query.together
            ]
            left = [left for part in parts.values() for left in part.left]
            self.by_tables[held], self._inputs_by[held] = self._collected(refused, inputs, left)
        self._first = next(iter(self.by_tables))
        self.arrived: Mapping[str, Arrived] = self.by_tables[self._first]
        self.traced = TRACE in self._inputs_by[self._first][0].rows.columns
        self._kept: dict[tuple[Rows, Read], dict[RowKey, dict[str, Any]]] = {}
        self._rows: dict[Tables, Mapping[str, Mapping[str, Any]]] = {}
        self._joined: dict[tuple[tuple[str, ...], Read], dict[str, dict[str, Any]]] = {}

    @property
    def _passed(self) -> DataFrame:
        """What reaches the only input of the first operator with state, by what tables hold first."""
        (one,) = self._inputs_by[self._first]
        return one.rows

    def _collected(
        self, refused: Sequence[Event], inputs: list[_Input], all_left: Sequence[DataFrame]
    ) -> tuple[dict[str, Arrived], list[_Input]]:
        """Every record, and the rows that pass, by input."""
        found = {event.trace: self._left_by(event.trace, RowFate.REJECTED) for event in refused}
        for left in all_left:
            for row in left.collect():
                found[row[TRACE]] = self._left_by(row[TRACE], RowFate(row["fate"]), row["reason"])
        if all(TRACE in one.rows.columns for one in inputs):
            shapes = [one.rows.columns for one in inputs]
            return found, [self._collect(one, found, self._there(number, shapes)) for number, one in enumerate(inputs)]
        return found, inputs

    def _there(self, number: int, shapes: Sequence[Sequence[str]]) -> Mapping[str, str]:
        """The columns that operators look at, by what they are called in an input; of a join only those that it has."""
        names, pairs = self.query.columns, self.query.pairs
        return {name: name for name in names} if pairs is None else columns_of_side(names, number, shapes, pairs.key)

    def _collect(self, one: _Input, found: dict[str, Arrived], names: Mapping[str, str]) -> _Input:
        """Takes the records of an input among those that are found, with these columns by their names there; gives those that may come to it."""
        time = one.time
        instant = F.unix_micros(F.col(time)) if time is not None and time in one.rows.columns else F.lit(None)
        columns = [F.col(TRACE), instant.alias("_us")]
        columns += [F.col(one.named(there)).alias(f"_k{number}") for number, there in enumerate(names.values())]
        made = self.query.stateful and any(twin.remakes for way in self.query.ways for twin in way.steps)
        without = []
        for row in _in_micros(one.rows.select(*columns)).collect():
            trace, values = row[0], {name: plain(value) for name, value in zip(names, row[2:], strict=True)}
            source = self._source_of.get(trace, "")
            refused_for = self.query.way_of(source).refuses(values)
            if refused_for is None and made and not _usable(row[1]):
                refused_for = f"no event time in {time}"
            if refused_for is not None:
                found[trace] = self._left_by(trace, RowFate.REJECTED, refused_for)
                without.append(trace)
                continue
            found[trace] = Arrived(trace, RowFate.PASSED, None, row[1], values, source)
        return replace(one, rows=one.rows.filter(~F.col(TRACE).isin(without))) if without else one

    def _left_by(self, trace: str, fate: RowFate, reason: str | None = None) -> Arrived:
        return Arrived(trace, fate, reason, source=self._source_of.get(trace, ""))

    @property
    def rows(self) -> Mapping[str, Mapping[str, Any]]:
        """The columns of every record that passes, by trace, by what tables hold first."""
        return self._rows_by(self._first)

    def rows_of(self, model: Expectation) -> Mapping[str, Mapping[str, Any]]:
        """The same by what tables held in the batch that has read each record.

        Where rows are made of one record of each input, the columns of each that the model gives too. Kept per set of rows.
        """
        read = {trace: self._held(outcome) for outcome in model.batches for trace in outcome.traces} if self.query.tables else {}
        alone = {trace: values for trace, values in self.rows.items() if trace not in read}
        alone |= {trace: found[trace] for trace, held in read.items() if trace in (found := self._rows_by(held))}
        if self.query.pairs is None or self.query.grouped is not None:
            return alone
        given = tuple(name for outcome in model.batches for name in (*outcome.given, *outcome.dropped))
        asked = given, self._read(model)
        if asked not in self._joined:
            self._joined[asked] = _by_trace(_OneByOne(self._to_windows(model, given)).through(self.query.behind).rows)
        return {**alone, **self._joined[asked]}

    def arrived_in(self, model: Expectation) -> Mapping[str, Arrived]:
        """Every record by what tables held in the batch that has read it."""
        if not self.query.tables:
            return self.arrived
        read = [(trace, self._held(outcome)) for outcome in model.batches for trace in outcome.traces]
        return {**self.arrived, **{trace: found[trace] for trace, held in read if trace in (found := self.by_tables[held])}}

    def _held(self, outcome: BatchOutcome) -> Tables:
        """What tables held in a batch."""
        return outcome.read.tables if outcome.read.tables in self.by_tables else self._first

    def _read(self, model: Expectation) -> Read:
        """What tables held while each batch read its records; empty without tables."""
        return tuple((self._held(outcome), outcome.traces) for outcome in model.batches) if self.query.tables else ()

    def _rows_by(self, held: Tables) -> Mapping[str, Mapping[str, Any]]:
        if held not in self._rows:
            self._rows[held] = {trace: values for one in self._inputs_by[held] for trace, values in _by_trace(one.rows).items()}
        return self._rows[held]

    def holding(self, condition: str) -> frozenset[str]:
        """The traces of the records that pass and for which a condition is true."""
        return frozenset(row[0] for row in self._passed.filter(F.coalesce(F.expr(condition), F.lit(False))).select(TRACE).collect())

    @cached_property
    def steps(self) -> Steps:
        """How far the aggregates of two right runs may be apart, since the order in which floats are added is not fixed; of types alone."""
        if self.query.grouped is None:
            return {}
        rows = self._rows_of_first(self._to_windows(None, ()).withColumns({name: F.lit(0).cast("bigint") for name in _BOUNDS}))
        asked = self._grouped.aggregates
        made = [column.alias(name) for name, column in columns_of(asked, rows).items()]
        return float_steps(self._windows(rows, [*made, F.count(F.lit(1)).alias(BESIDE)], [F.col(quoted(name)) for name in asked]))

    @property
    def _grouped(self) -> Grouped:
        assert self.query.grouped is not None, "only rows of windows have aggregates"
        return self.query.grouped

    @property
    def passed(self) -> DataFrame:
        """What reaches the first operator with state, where that has one input."""
        return self._passed

    @property
    def accumulators(self) -> Mapping[str, Accumulator]:
        """The declared accumulators by name."""
        asked = self.query.grouped.aggregates if self.query.grouped is not None else {}
        return {name: one for name, one in asked.items() if isinstance(one, Accumulator)}

    @property
    def stated(self) -> frozenset[str]:
        """The columns that are compared by a stated error, in the windows that were judged so far."""
        return stated(self._kept.values())

    def batch_result(self, model: Expectation) -> dict[RowKey, dict[str, Any]]:
        """The columns of each row that a window gives: the aggregates that were asked for, over the events that the model has in it then.

        Kept per set of rows.
        """
        rows = tuple((key, contents.members) for key, contents in model.rows.items())
        read = self._read(model)
        if (rows, read) not in self._kept:
            self._kept[rows, read] = self._aggregated(model)
        return self._kept[rows, read]

    def _aggregated(self, model: Expectation) -> dict[RowKey, dict[str, Any]]:
        placed = [
            (trace, inner_start, inner.end_us, key[1], contents.end_us, revision)
            for (key, revision), contents in model.rows.items()
            for (_, inner_start), inner in contents.parts or ((key, contents),)
            for trace in inner.members
        ]
        traces, *bounds = ([pair[number] for pair in placed] for number in range(6))
        columns = {name: pa.array(instants, pa.int64()) for name, instants in zip(_BOUNDS, bounds, strict=True)}
        # From a list of rows PySpark would start Python workers.
        chosen = self._spark.createDataFrame(pa.table({TRACE: pa.array(traces, pa.string()), **columns}))
        come = self._to_windows(model, tuple(dict.fromkeys(trace for trace, *_ in placed)))
        rows = self._rows_of_first(come.join(F.broadcast(chosen), TRACE))
        aggregated = Aggregated(self._grouped.aggregates, rows)
        shown = self._windows(rows, aggregated.grouped(), aggregated.shown())
        found: dict[RowKey, dict[str, Any]] = {}
        for row in _in_micros(shown).collect():
            values = {name: plain(row[name]) for name in shown.columns if name not in _HIDDEN}
            key = (tuple(values[name] for name in self._grouped.by), values["window_start"])
            found[key, values.get("revision", 0) if self._grouped.revised else 0] = aggregated.judged(values, row[_HIDDEN[1]])
        return found

    def _to_windows(self, model: Expectation | None, given: tuple[str, ...]) -> DataFrame:
        """The rows that windows are made of: those that come to the only input, or of a join these that it gives."""
        pairs = self.query.pairs
        if pairs is None:
            return self._come_to(0, model)
        return joined_rows(self._spark, (self._come_to(0, model), self._come_to(1, model)), pairs.key, given)

    def _come_to(self, number: int, model: Expectation | None) -> DataFrame:
        """The rows that come to an input, each by what tables held in the batch that has read it; without a model by what they held first."""
        if len(self._inputs_by) == 1 or model is None:
            return self._inputs_by[self._first][number].rows
        by_held: dict[Tables, list[str]] = {self._first: []}
        for outcome in model.batches:
            by_held.setdefault(self._held(outcome), []).extend(outcome.traces)
        parts = []
        for held, traces in by_held.items():
            of_them = self._spark.createDataFrame(pa.table({TRACE: pa.array(traces, pa.string())}))
            parts.append(self._inputs_by[held][number].rows.join(F.broadcast(of_them), TRACE))
        return reduce(DataFrame.unionByName, parts)

    def _rows_of_first(self, rows: DataFrame) -> DataFrame:
        """What the window whose row comes out is of: the rows as they are, or those of the window before it."""
        first, *others = self.query.groupings
        if not others:
            return rows
        aggregates = [F.count(F.lit(1)).alias(_HIDDEN[0]), *(column.alias(name) for name, column in first.aggregates.items())]
        shown = {name: F.timestamp_micros(bound) for name, bound in zip(_SHOWN, (_START, _END), strict=True)}
        return rows.groupBy(*_BOUNDS, *first.by).agg(*aggregates).withColumns(shown)

    def _windows(self, rows: DataFrame, grouped: Sequence[Column], aggregates: Sequence[Column]) -> DataFrame:
        """The aggregates that were asked for, and what is done behind them, by the bounds of each window."""
        records = F.sum(_HIDDEN[0]) if len(self.query.groupings) > 1 else F.count(F.lit(1))
        groups = rows.groupBy(*_OUTER, _REVISION, *self._grouped.by).agg(records.alias(_HIDDEN[0]), *grouped)
        start, end = (F.timestamp_micros(name).alias(shown) for name, shown in zip(_OUTER, _SHOWN, strict=True))
        hidden = F.col(_HIDDEN[0]), F.col(BESIDE).alias(_HIDDEN[1])
        revision = [F.col(_REVISION).alias("revision")] if self._grouped.revised else []
        shown = groups.select(*hidden, *self._grouped.by, start, end, *revision, *aggregates)
        return _OneByOne(shown).through(self.query.behind).rows


def _column(condition: Any) -> Column:
    return F.expr(condition) if isinstance(condition, str) else condition


def _usable(time_us: int | None) -> bool:
    return time_us is not None and -LAST_MICROS <= time_us <= LAST_MICROS


def _by_trace(rows: DataFrame) -> dict[str, dict[str, Any]]:
    """The columns of rows, by their trace."""
    columns = [name for name in rows.columns if name != TRACE]
    collected = _in_micros(rows.select(TRACE, *map(quoted, columns))).collect()
    return {row[0]: {name: plain(value) for name, value in zip(columns, row[1:], strict=True)} for row in collected}


def _in_micros(rows: DataFrame) -> DataFrame:
    """The same with instants as microseconds UTC (bigint): as datetimes PySpark would give them in the time zone of this process."""
    instants = [field.name for field in rows.schema.fields if isinstance(field.dataType, TimestampType)]
    return rows.select(*[F.unix_micros(name).alias(name) if name in instants else F.col(name) for name in rows.columns])
