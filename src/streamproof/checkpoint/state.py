"""Reading the state of a stopped query with Spark's state reader: open windows and remembered keys."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType, TimestampType

from streamproof.errors import UnknownState

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_ENCODED = re.compile(r'[\s%#?"<>\[\]{}|\\^`]')
"""What java.net.URI encodes in a path."""
_WRITTEN: "dict[str, Callable[[str], Column]]" = {
    "decimal": lambda name: F.col(name).cast("string"),
    "binary": lambda name: F.lower(F.hex(name)),
}
"""By type how an order is written that JSON has no number for."""
_CUT, _TRACE = "_piece", "_trace"
"""`stream.names.PIECE` and `TRACE`; a checkpoint is read without the job."""


@dataclass(frozen=True)
class OpenWindows:
    """What is in window state: pairs of (record, window), windows, and the latest window end (microseconds; None without windows).

    Of a join both numbers are those of the rows that wait in it; where windows stand after it, these rows are among the records only.
    """

    records: int
    windows: int
    latest_end_us: int | None


@contextmanager
def reachable(checkpoint: str) -> Iterator[str]:
    """A path of the checkpoint that Spark's state reader finds: it encodes the location once too often (seen in 4.3).

    A local folder with a space or the like in its path is read by a link without one. In other stores such a path cannot be read.
    """
    path = checkpoint.removeprefix("file://").removeprefix("file:")
    if not path.startswith("/") or not _ENCODED.search(path):
        yield checkpoint
        return
    with TemporaryDirectory(prefix="streamproof-") as folder:
        link = Path(folder) / "checkpoint"
        link.symlink_to(path, target_is_directory=True)
        yield str(link)


def operators(spark: "SparkSession", checkpoint: str) -> dict[int, str]:
    """The stateful operators of a checkpoint: operator id to Spark's name of it."""
    rows = spark.read.format("state-metadata").load(checkpoint).select("operatorId", "operatorName").distinct().collect()
    return {row["operatorId"]: row["operatorName"] for row in rows}


def windows(spark: "SparkSession", checkpoint: str, operator: int) -> "DataFrame":
    """The open windows: `by` (the key's values as a JSON list), `end_us`, `records`, `hash` (bigint; hash null outside proofs).

    The hidden record count is the first aggregate and so the first field of the state's value, the hidden hash the second.
    """
    state = _state(spark, checkpoint, operator)
    end, *by = _fields(state, "key")
    return _windows(state, by, end, aggregates_from=0)


def sessions(spark: "SparkSession", checkpoint: str, operator: int) -> "DataFrame":
    """The open sessions, in the columns of `windows`.

    Spark's key is that of the group and the start; its value the session, the key once more, and the aggregates. Sessions that are cut have
    their piece of time as the last of the group: the start says it too, and it is no part of the job's key.
    """
    state = _loaded(spark, checkpoint, operator)
    cut = _CUT in state.schema["key"].dataType.fieldNames()  # type: ignore[attr-defined]
    state = _with_numbers(state)
    *group, _start = _fields(state, "key")
    by = group[:-1] if cut else group
    return _windows(state, by, F.unix_micros("value.f0.end"), aggregates_from=1 + len(group))


def _windows(state: "DataFrame", by: "list[Column]", end: "Column", *, aggregates_from: int) -> "DataFrame":
    records, *more = _fields(state, "value")[aggregates_from:]
    second = state.schema["value"].dataType.fields[aggregates_from + 1 : aggregates_from + 2]  # type: ignore[attr-defined]
    hashed = more[0] if second and second[0].dataType.simpleString() == "bigint" else F.lit(None)
    return state.select(
        _listed(by).alias("by"),
        end.alias("end_us"),
        records.alias("records"),
        hashed.cast("bigint").alias("hash"),
    )


def remembered(spark: "SparkSession", checkpoint: str, operator: int) -> "DataFrame":
    """The keys that deduplication remembers: `key` (its values as a JSON list), `columns` (their names, in the same order, as a JSON list) and
    `expires_us` (bigint).

    The order is Spark's own: before 4.3 that of a `Set`, which keeps up to four columns in that of the call.
    """
    state = _loaded(spark, checkpoint, operator)
    columns = json.dumps(state.schema["key"].dataType.fieldNames())  # type: ignore[attr-defined]
    state = _with_numbers(state)
    return state.select(
        _listed(_fields(state, "key")).alias("key"),
        F.lit(columns).alias("columns"),
        _fields(state, "value")[0].alias("expires_us"),
    )


def compared(spark: "SparkSession", checkpoint: str, operator: int) -> "DataFrame":
    """The keys whose rows are compared with the newest one: the columns of `remembered`, and of that row `order`, `time_us` and `hash` (bigint).

    Spark's value is what our processor keeps, and its timeout: that, in milliseconds, is over when the watermark is above it. An `order` is a
    whole number or a double; a decimal is its text, and bytes are their digits.
    """
    state = _state(spark, checkpoint, operator)
    expires = (_fields(state, "value")[1] + 1) * 1_000
    kept = _listed(_fields(state, "key")).alias("key"), expires.cast("bigint").alias("expires_us")
    if "order" not in state.select("value.f0.*").columns:  # declared state compares no rows
        return state.select(*kept)
    type_ = state.select("value.f0.order").schema.fields[0].dataType
    return state.select(
        *kept,
        _WRITTEN.get(type_.typeName(), F.col)("value.f0.order").alias("order"),
        F.col("value.f0.time").alias("time_us"),
        F.col("value.f0.hash").alias("hash"),
    )


def joined_rows(spark: "SparkSession", checkpoint: str, operator: int) -> "DataFrame":
    """The rows that wait in a join for their partners, of both sides, one row each: `trace` (null outside proofs)."""
    sides = []
    for side in ("left", "right"):
        store = f"{side}-keyWithIndexToValue"  # what Spark's `joinSide` reads; with that 4.0 does not find the files of format 2
        rows = spark.read.format("statestore").option("operatorId", operator).option("storeName", store).load(checkpoint)
        there = rows.schema["value"].dataType.fieldNames()  # type: ignore[attr-defined]
        trace = f"_{side}_{_TRACE}"
        sides.append(rows.select((F.col(f"value.{trace}") if trace in there else F.lit(None).cast("string")).alias("trace")))
    left, right = sides
    return left.unionAll(right)


@dataclass(frozen=True)
class Reader:
    """How the state of an operator is read as a table.

    Parameters
    ----------
    holds
        What a row of it is: a "window" with the columns `by`, `end_us`, `records` and `hash`; a remembered "key" with `key` and `expires_us`, and
        of rows that are compared `order`, `time_us` and `hash`; or a "row" as it came, with `trace`.
    table
        Gives it, from a session, a checkpoint and the operator's number.
    """

    holds: str
    table: "Callable[[SparkSession, str, int], DataFrame]"


READERS = {
    "stateStoreSave": Reader("window", windows),
    "sessionWindowStateStoreSaveExec": Reader("window", sessions),
    "dedupeWithinWatermark": Reader("key", remembered),
    "flatMapGroupsWithState": Reader("key", compared),
    "symmetricHashJoin": Reader("row", joined_rows),
}
"""By the name that Spark has for an operator."""


def reader_of(name: str, number: int, checkpoint: str) -> Reader:
    """The reader of an operator.

    Raises
    ------
    UnknownState
        If none is known: what it holds must not be passed over.
    """
    if name not in READERS:
        raise UnknownState(
            f"{checkpoint}: the operator {number} is {name}, whose state Streamproof does not read.",
            required=f"Known are {', '.join(READERS)}.",
            remedy="The checkpoint is of another version of Streamproof, or of a job that was not made with it. Take the version that has written it.",
        )
    return READERS[name]


def _state(spark: "SparkSession", checkpoint: str, operator: int) -> "DataFrame":
    """The state with the fields of key and value numbered: Spark names two sums alike."""
    return _with_numbers(_loaded(spark, checkpoint, operator))


def _loaded(spark: "SparkSession", checkpoint: str, operator: int) -> "DataFrame":
    return spark.read.format("statestore").option("operatorId", operator).load(checkpoint)


def _with_numbers(state: "DataFrame") -> "DataFrame":
    numbered = [F.col(name).cast(_numbered(state.schema[name].dataType)).alias(name) for name in ("key", "value")]
    return state.select(*numbered)


def _numbered(type_: Any) -> StructType:
    return StructType([StructField(f"f{number}", field.dataType) for number, field in enumerate(type_.fields)])


def _fields(state: "DataFrame", name: str) -> "list[Column]":
    """The fields of key or value, instants as microseconds UTC (bigint)."""
    fields: Any = state.schema[name].dataType
    columns = {f"{name}.{field.name}": field.dataType for field in fields.fields}
    return [F.unix_micros(path) if isinstance(type_, TimestampType) else F.col(path) for path, type_ in columns.items()]


def _listed(columns: "list[Column]") -> "Column":
    """The values as the text of a JSON list; nulls stay."""
    if not columns:
        return F.lit("[]")
    values = [F.to_json(F.struct(column.alias("v")), {"ignoreNullFields": "false"}) for column in columns]
    # {"v":VALUE} without its first five characters and its last one.
    inner = [F.substr(value, F.lit(6), F.length(value) - 6) for value in values]
    return F.concat(F.lit("["), F.concat_ws(",", *inner), F.lit("]"))


def open_windows(spark: "SparkSession", checkpoint: str, emitted_up_to_us: int | None = None) -> OpenWindows:
    """The sums over all open windows of a stopped query, or over the rows that wait in a join; zeros if its state has neither. UnknownState where
    an operator is not known.

    Parameters
    ----------
    emitted_up_to_us
        Windows that end there or before (microseconds) have been emitted, though they are still in state: their records are not counted.
    """
    found, waiting, of_windows = OpenWindows(0, 0, None), 0, False
    with reachable(checkpoint) as path:
        for operator, name in operators(spark, path).items():
            reader = reader_of(name, operator, checkpoint)
            if reader.holds == "row":
                waiting += reader.table(spark, path, operator).count()
            if reader.holds == "window":
                records = F.col("records")
                if emitted_up_to_us is not None:
                    records = F.when(F.col("end_us") > emitted_up_to_us, records)
                row = reader.table(spark, path, operator).agg(F.sum(records), F.count("*"), F.max("end_us")).collect()[0]
                ends = [end for end in (found.latest_end_us, row[2]) if end is not None]
                found = OpenWindows(found.records + (row[0] or 0), found.windows + row[1], max(ends, default=None))
                of_windows = True
    return OpenWindows(found.records + waiting, found.windows if of_windows else waiting, found.latest_end_us)
