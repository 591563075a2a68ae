"""A micro-batch in the JVM: its doors, its rows, what they have counted, and the function that is called with it."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from streamproof._jvm.java import java_call, java_class, whole_text
from streamproof.core.ids import new_id
from streamproof.errors import DivertError

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType


class Doors:
    """The Java functions of one query (late bound, diverts, tallies) and the reports of its tasks."""

    def __init__(self, spark: "SparkSession", checkpoint: str, run: str) -> None:
        self._doors = java_class(spark, "Doors")(spark._jsparkSession, checkpoint, run)

    def late_before(self, window_us: int) -> "Column":
        """The first event time that is not late in the running batch, bigint, microseconds since 1970-01-01T00:00:00Z.

        It lies right above the late bound; with a tumbling window of a length, at the start of the first window that ends above it.
        """
        from pyspark.sql import Column

        return Column(self._doors.lateBefore(window_us))

    def batch_number(self) -> "Column":
        """The number of the running batch, bigint."""
        from pyspark.sql import Column

        return Column(self._doors.batchNumber())

    def batch_clock(self) -> "Column":
        """The running batch's own timestamp (R13), bigint, microseconds since 1970-01-01T00:00:00Z."""
        return java_call(self._doors.batchClock())

    def divert(self, door: str, directory: str | None, row: "Column", reason: "Column") -> "Column":
        """False, after having taken the row out: to a side file below `directory`, or only counted where that is None."""
        return java_call(self._doors.divert(door, directory), row, reason)

    def counted_out(self, door: str, reason: str) -> "Column":
        """False (boolean), after having counted a row that leaves for one reason, and of which nothing is written."""
        from pyspark.sql import Column

        return Column(self._doors.countedOut(door, reason))

    def dropped(
        self, door: str, directory: str, row: "StructType", reason: str, options: "Mapping[str, str]", zone: str
    ) -> "Dropped":
        """What stands on both sides of a deduplication: the rows that it drops go to side files below `directory`.

        Parameters
        ----------
        row
            The columns that are written of a row.
        reason
            What is counted of each.
        options, zone
            How it is written as JSON.
        """
        return Dropped(self._doors.dropped(door, directory, reason, row.json(), dict(options), zone))

    def tally(self, door: str, row_hash: "Column", records: "Column", floats: "Sequence[Column]") -> "Column":
        """True, after having added the row to the sums of its task; `records` (bigint) may not be null."""
        from pyspark.sql import Column
        from pyspark.sql import functions as F

        doubles = F.array(*floats) if floats else F.array().cast("array<double>")
        columns = [column._jc for column in (row_hash, records, doubles)]
        return Column(self._doors.tally(door, *columns, len(floats)))

    def hot_keys(self, door: str, key_hash: "Column") -> "Column":
        """True (boolean), after having counted a row of a key by the hash of that (bigint); only the most frequent are reported."""
        from pyspark.sql import Column

        return Column(self._doors.hotKeys(door, key_hash._jc))

    def ages(self, door: str, instant: "Column") -> "Column":
        """True (boolean), after having counted a row by how old its instant (bigint, microseconds) is by the clock of its batch; may not be null."""
        from pyspark.sql import Column

        return Column(self._doors.ages(door, instant._jc))

    def drain(self, batch: int) -> list[dict[str, Any]]:
        """The reports of a batch, one per finished task attempt and door."""
        reports: list[dict[str, Any]] = json.loads(whole_text(self._doors.drain(batch)))
        return reports


class Dropped:
    """Both sides of a deduplication; between them lies nothing but Spark's operator, in the same task."""

    def __init__(self, java: Any) -> None:
        self._java = java

    def before(self, row: "Column") -> "Column":
        """True (boolean), after having remembered a row, of which the struct is what is written if it does not come out."""
        from pyspark.sql import Column

        return Column(self._java.before(row._jc))

    def behind(self) -> "Column":
        """True (boolean) of a row that has come out."""
        from pyspark.sql import Column

        return Column(self._java.behind())


class BatchRows:
    """The rows of a micro-batch, not computed yet; and, once they are, what that has counted."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def write(self, form: str, directory: str, options: "Mapping[str, str]") -> None:
        """Computes the rows, once, and writes them as "json", "parquet", "csv" or "avro" to a directory that is not there yet."""
        self._rows.write(form, directory, dict(options))

    def sums(self) -> dict[str, int]:
        """Rows read, duplicates dropped and occurrences of each door in the plan, of the rows that were written."""
        found: dict[str, int] = json.loads(self._rows.sums())
        return found

    def times(self, batch: int) -> dict[str, int] | None:
        """How long the tasks took that hold the partitions of the state: "tasks", "slowest_ms", "median_ms", "most_rows"; None if unknown."""
        found: dict[str, int] | None = json.loads(self._rows.times(batch) or "null")
        return found

    def reached(self) -> "list[int | None]":
        """For each source with a watermark, in order: newest event time less delay, in milliseconds; None if it had no event time."""
        found: list[int | None] = json.loads(self._rows.reached())
        return found

    def lift(self, source: int, watermark_ms: int) -> None:
        """Has a source, by its number, reach a watermark that no event of its own has led to; it counts from the next batch on."""
        self._rows.lift(source, watermark_ms)


class _BatchFunction:
    """Called from the JVM, in the thread of the query."""

    def __init__(self, function: "Callable[[BatchRows, int], None]") -> None:
        self._function = function

    def call(self, rows: Any, batch: int) -> None:
        self._function(BatchRows(rows), batch)

    class Java:
        implements = ("io.streamproof.BatchFunction",)


def listen_to_jvm(gateway: Any) -> None:
    """Has this process listen to calls from the JVM, before anything asks for one.

    py4j begins to listen in a thread that it starts for it. Where the machine is busy that can come too late: the JVM finds nobody there.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    gateway._callback_server.server_socket.listen()  # a second call, of either side, changes nothing


def for_each_batch(
    spark: "SparkSession", writer: "DataStreamWriter", function: "Callable[[BatchRows, int], None]"
) -> "DataStreamWriter":
    """Binds a query to a function that is called once per micro-batch; what it raises stops the query."""
    name = new_id()
    listen_to_jvm(spark.sparkContext._gateway)
    java_class(spark, "BatchSink").register(name, _BatchFunction(function))
    return writer.format("io.streamproof.BatchSink").option("function", name)


def doors_of(spark: "SparkSession", stream: "StreamingQuery") -> dict[str, int]:
    """How often each door occurs in the plan of a query's newest batch, as in `BatchRows.sums`."""
    plan = stream._jsq.streamingQuery().lastExecution().executedPlan()
    found: dict[str, int] = json.loads(java_class(spark, "Doors").inPlan(plan))
    return found


def look_of(stream: "StreamingQuery") -> int:
    """When a query has begun to look for input last, in milliseconds since 1970; one number for each time that it looks.

    Spark sets it at the begin of each trigger. A batch that is found belongs to the look that has found it.
    """
    return int(stream._jsq.streamingQuery().getLatestExecutionContext().currentTriggerStartTimestamp())


def trigger_seconds(stream: "StreamingQuery") -> float | None:
    """The interval of a query's trigger, 0 where a batch follows the one before; None of a trigger without an interval, as available-now."""
    trigger = stream._jsq.streamingQuery().trigger()
    return int(trigger.intervalMs()) / 1_000 if trigger.getClass().getSimpleName() == "ProcessingTimeTrigger" else None


def newest_progress(stream: "StreamingQuery") -> dict[str, Any] | None:
    """What Spark says of the newest batch that a query has committed, as `StreamingQueryProgress.json`; None before the first.

    PySpark's own class refuses it where a rate is no number.
    """
    java = stream._jsq.lastProgress()
    found: dict[str, Any] | None = None if java is None else json.loads(java.json())
    return found


def check_doors(metrics: dict[str, int]) -> None:
    """DivertError if one divert occurs twice in the executed plan: each row would be taken out twice (R5)."""
    for key, count in metrics.items():
        if key.startswith("door:") and count > 1:
            raise DivertError(
                f"The side output {key.removeprefix('door:')} occurs {count} times in Spark's plan; its rows would be doubled.",
                remedy="Simplify the transform before it (a union or a self-join duplicates what comes before).",
            )
