"""From a recipe to a Spark plan: one function per step, and the doors that records leave by."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from streamproof.core.durations import micros_of
from streamproof.core.users_code import place_of, raised_in, remedy_for
from streamproof.errors import JobDefinitionError, StreamproofError
from streamproof.stream.identity import MadeBy, state_of
from streamproof.stream.limits import require_row_by_row
from streamproof.stream.recipe import Condition, Deduplicate, Filter, Recipe, Require, Transform

if TYPE_CHECKING:
    from datetime import timedelta

TRACE = "_trace"
ORIGINAL = "_original"
RECORDS = "_records"
TRACE_HASH = "_trace_hash"
MADE = "_made"
"""Says that a transform of the user's lies below: the doors behind it ask for it, see `row_wise`."""
INSTANT = "_instant"
"""The event time of a row as a source has read it."""
REASON = "_reason"
"""Why a row is rejected; null of the others."""
CORRUPT = "_corrupt"
"""The text of a JSON record that does not fit; null of the others."""
PROBLEM = "_problem"
"""Why a record in a registry's format cannot be read; null of the others."""
RECORD_COLUMNS = ("_record", "_record_text", "_record_schema_id")
"""A record in a registry's format, its text, and the id of its schema, until they are columns."""
_WINDOW_END = "_window_end"
_NUMBER = "_number"
_DELAY = "spark.watermarkDelayMs"
"""Where Spark keeps the watermark's delay: in the metadata of the column that it was declared on."""
HIDDEN = (TRACE, ORIGINAL, RECORDS, TRACE_HASH, MADE, INSTANT, REASON, CORRUPT, PROBLEM)
_OWN = frozenset({*HIDDEN, *RECORD_COLUMNS, _WINDOW_END, _NUMBER})
"""What no column of a job may be called."""


class Doors(Protocol):
    """Where records leave the main path. In production they go to side files; in an oracle they are collected."""

    def clock(self) -> Column:
        """The batch's own timestamp (bigint, microseconds)."""

    def reject(self, rows: DataFrame, reason: Column) -> DataFrame:
        """Lets rows pass whose reason is null."""

    def drop(self, rows: DataFrame, keep: Column, name: str) -> DataFrame:
        """Lets rows pass for which `keep` is true; counts the others under the name."""

    def late(self, rows: DataFrame, event_time: Column, window_us: int = 0) -> DataFrame:
        """Lets rows pass whose event time (bigint, microseconds), or whose window's end where a length is given, is above the late bound."""


@dataclass(frozen=True)
class EventTimeColumn:
    """The event-time column (TIMESTAMP, UTC) of a source and its lag."""

    column: str
    lag: "timedelta"


@dataclass(frozen=True)
class Plan:
    """The streaming plan of a query, and what its state is made by (R25)."""

    rows: DataFrame
    made_by: MadeBy


def build(recipe: Recipe, rows: DataFrame, event_time: EventTimeColumn | None, doors: Doors) -> Plan:
    """The streaming plan of a recipe.

    Parameters
    ----------
    rows
        The source's rows, already parsed.
    event_time
        Required by windows and deduplication.
    doors
        Where records leave.

    Raises
    ------
    JobDefinitionError
        If a step names a column that is not there, or needs an event time where none is declared.
    """
    rows = row_wise(recipe, rows, doors)
    if not recipe.stateful:
        return Plan(rows.drop(MADE), state_of(recipe, rows))
    if event_time is None:
        raise needs_event_time(recipe)
    before_state = rows
    _require_columns(rows, [event_time.column], "the event time")
    delay = event_time.lag + recipe.allowed_lateness
    deduplicate, aggregate = recipe.deduplicate, recipe.aggregate
    if aggregate is not None:
        _require_columns(rows, aggregate.by, "window(by=...)")
    if deduplicate is not None:
        _require_columns(rows, deduplicate.key, "deduplicate()")
    window_us = micros_of(aggregate.window.size) if aggregate is not None and deduplicate is None else 0
    rows = doors.late(rows, F.unix_micros(event_time.column), window_us).drop(MADE)
    # Behind the door: no late row is the newest, and Spark compiles the steps up to its watermark into one loop.
    rows = rows.withWatermark(event_time.column, f"{micros_of(delay) // 1000} milliseconds")
    if deduplicate is not None:
        rows = rows.dropDuplicatesWithinWatermark(list(deduplicate.key))
    return Plan(aggregated(recipe, rows, event_time.column), state_of(recipe, before_state))


def row_wise(recipe: Recipe, rows: DataFrame, doors: Doors) -> DataFrame:
    """The steps before the first stateful one: requirements, filters and transforms.

    The optimiser pushes a filter below a projection and computes what it needs of it a second time: a function of the user's would be
    called twice a row for each door behind it. It does not push one below a column that is not deterministic, if the filter asks for it.
    """
    for step in recipe.row_wise:
        if isinstance(step, Require):
            rows = doors.reject(rows, _checked_column(rows, "require()", partial(_failed_requirement, step)))
        elif isinstance(step, Filter):
            keep = _checked_column(rows, f"filter(name={step.name!r})", partial(_column, step.condition))
            rows = doors.drop(rows, F.coalesce(keep, F.lit(False)), step.name)
        elif isinstance(step, Transform):
            rows = _transformed(rows, step).withColumn(MADE, F.spark_partition_id())
    return rows


def aggregated(recipe: Recipe, rows: DataFrame, event_time: str) -> DataFrame:
    """Groups by window and key, with a hidden record count (and in proofs the sum of trace hashes)."""
    aggregate = recipe.aggregate
    if aggregate is None:
        return rows
    _require_free(aggregate.aggregates, "aggregate()")
    hidden = [F.count(F.lit(1)).alias(RECORDS)]
    if TRACE in rows.columns:
        hidden.append(F.sum(trace_hash(F.col(TRACE))).alias(TRACE_HASH))
    visible = [column.alias(name) for name, column in aggregate.aggregates.items()]
    size = micros_of(aggregate.window.size)

    def group(rows: DataFrame) -> DataFrame:
        return rows.select("*", _window_end(rows, event_time, size)).groupBy(_WINDOW_END, *aggregate.by).agg(*hidden, *visible)

    grouped = _checked(rows, "aggregate()", group)
    hidden_names = [name for name in (RECORDS, TRACE_HASH) if name in grouped.columns]
    shown = grouped.select(
        *hidden_names,
        *aggregate.by,
        F.timestamp_micros(F.unix_micros(_WINDOW_END) - size).alias("window_start"),
        # A file keeps a column's metadata: who reads it as a stream would have a watermark that nobody declared.
        F.col(_WINDOW_END).alias("window_end", metadata={}),
        *aggregate.aggregates,
    )
    for step in recipe.afterwards:
        shown = _transformed(shown, step)
        _require_hidden(shown, hidden_names)
    return _hidden_first(shown)


def _window_end(rows: DataFrame, event_time: str, size: int) -> Column:
    """The end of the tumbling window that an event lies in, the key of its state: Spark's own window is a struct of start and end.

    What Spark evicts by is the column that carries the watermark's delay in its metadata (R12): a window's end, not its events' times.
    """
    instant = F.unix_micros(event_time)
    end = F.timestamp_micros(instant - F.pmod(instant, F.lit(size)) + size)
    delay = rows.schema[event_time].metadata.get(_DELAY)
    return end.alias(_WINDOW_END, metadata={} if delay is None else {_DELAY: delay})


def _require_hidden(rows: DataFrame, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise JobDefinitionError(
            f"The function given to transform() behind aggregate() leaves out the hidden column {missing[0]}.",
            required="It counts the records of each row for the account, and is taken off before the rows are written.",
            remedy=f'Leave columns out with rows.drop(...), or select "{missing[0]}" too.',
        )


def _hidden_first(rows: DataFrame) -> DataFrame:
    """The hidden aggregates in front: Spark orders the fields of the state's value by the final projection, and readers count on it."""
    hidden = [name for name in (RECORDS, TRACE_HASH) if name in rows.columns]
    return rows.select(*hidden, *[name for name in rows.columns if name not in hidden])


def batch_deduplicated(rows: DataFrame, deduplicate: Deduplicate, event_time: str) -> DataFrame:
    """Deduplication on bounded input: row number one per key, by event time."""
    from pyspark.sql import Window

    number = F.row_number().over(Window.partitionBy(*deduplicate.key).orderBy(event_time))
    return rows.withColumn(_NUMBER, number).filter(F.col(_NUMBER) == 1).drop(_NUMBER)


def trace_hash(trace: Column) -> Column:
    """40 bits of the MD5 of the event id (the trace id up to a "+"), bigint; sums of up to 8 million stay exact."""
    event = F.substring_index(trace, "+", 1)
    return F.conv(F.substring(F.md5(event.cast("binary")), 1, 10), 16, 10).cast("bigint")


def own_name(names: Iterable[str]) -> str | None:
    """The first of the names that is one of Streamproof's own columns, in whatever case: Spark takes `_Reason` for `_reason`."""
    return next((name for name in names if name.lower() in _OWN), None)


def needs_event_time(recipe: Recipe) -> JobDefinitionError:
    return JobDefinitionError(
        f"The job uses a window or deduplication on the source {recipe.source}, which declares no event time.",
        required="Windows and deduplication work by event time.",
        remedy=f'Add to streamproof.toml, [source.{recipe.source}]: event_time = {{ column = "ts", unit = "milliseconds", lag = "10 seconds" }}',
    )


def _failed_requirement(step: Require) -> Column:
    reason = F.lit(None).cast("string")
    for name, condition in reversed(list(step.conditions.items())):
        text = condition if isinstance(condition, str) else name
        holds = _column(condition)
        reason = F.when(holds.isNull(), F.lit(f"{text} (is null)")).when(~holds, F.lit(text)).otherwise(reason)
    return reason


def _column(condition: Condition) -> Column:
    return F.expr(condition) if isinstance(condition, str) else condition


def _checked_column(rows: DataFrame, where: str, make: Callable[[], Column]) -> Column:
    column: list[Column] = []

    def select(rows: DataFrame) -> DataFrame:
        column.append(make())
        return rows.select(*column)

    _checked(rows, where, select)
    return column[0]


def _checked(rows: DataFrame, where: str, make: Callable[[DataFrame], DataFrame]) -> DataFrame:
    try:
        return make(rows)
    except AnalysisException as problem:
        raise unknown_column(where, problem, rows.columns) from problem


def _transformed(rows: DataFrame, step: Transform) -> DataFrame:
    try:
        made = step.function(rows)
    except AnalysisException as problem:
        place = place_of(problem)
        raise unknown_column(f"{place}: transform()" if place else "transform()", problem, rows.columns) from problem
    except StreamproofError:
        raise
    except Exception as problem:  # it is the user's function: anything can happen in it
        raise JobDefinitionError(
            f"The function given to transform() failed: {raised_in(None, problem)}",
            required="It takes a DataFrame and returns one; it is called once, when the plan is built.",
            remedy=remedy_for(problem),
        ) from problem
    if not isinstance(made, DataFrame):
        raise JobDefinitionError(
            f"The function given to transform() returned a {type(made).__name__}.", required="It returns a DataFrame."
        )
    require_row_by_row(rows, made, step)
    _require_free((name for name in made.columns if name not in rows.columns), "The function given to transform()")
    return made


def _require_free(names: Iterable[str], who: str) -> None:
    taken = own_name(names)
    if taken is not None:
        raise JobDefinitionError(
            f"{who} makes a column {taken}, which is a name of Streamproof's own.",
            required="Its hidden columns would take the place of yours.",
            remedy="Give the column another name.",
        )


def _require_columns(rows: DataFrame, names: Iterable[str], where: str) -> None:
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise column_error(where, missing[0], rows.columns)


def column_error(where: str, name: str, columns: Sequence[str]) -> JobDefinitionError:
    """The error for a column that does not exist, in one place."""
    import difflib

    visible = [column for column in columns if column not in (*HIDDEN, _WINDOW_END)]
    near = difflib.get_close_matches(name, visible, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    return JobDefinitionError(
        f'{where} needs the column "{name}", which is not there.{hint}', required=f"The columns are {', '.join(visible)}."
    )


def unknown_column(where: str, problem: AnalysisException, columns: Sequence[str]) -> JobDefinitionError:
    parameters = problem.getMessageParameters() or {}
    if "objectName" in parameters and "UNRESOLVED_COLUMN" in str(problem.getCondition()):
        return column_error(where, parameters["objectName"].replace("`", ""), columns)
    visible = [column for column in columns if column not in (*HIDDEN, _WINDOW_END)]
    said = re.sub(r"^\[[A-Z_.]+\]\s*|\s*SQLSTATE: \w+;?", "", str(problem).strip().splitlines()[0])[:300]
    return JobDefinitionError(
        f"{where} cannot be planned: {said}",
        required=f"Conditions are SQL expressions or columns of type boolean. The columns are {', '.join(visible)}.",
    )
