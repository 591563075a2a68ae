"""The doors of a running query: diverted rows go to side files by Java functions, in the same pass (SPARK_FACTS)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructType

from streamproof import _jvm
from streamproof.connectors.json_records import WRITTEN
from streamproof.core.sides import DUPLICATE, LATE, REJECTED, Side
from streamproof.errors import DivertError
from streamproof.runtime.watching.latency import Since
from streamproof.stream.looked_up import Conditions, TableRows
from streamproof.stream.names import (
    ADDED,
    APPENDED,
    BATCH,
    CORRUPT,
    DUE,
    INSTANT,
    MADE,
    ORIGINAL,
    PROBLEM,
    REASON,
    RECORDS,
    TRACE,
    TRACE_HASH,
    WHOSE,
    WINDOW,
    quoted,
)

_INTERNAL = (ORIGINAL, MADE, INSTANT, APPENDED, REASON, CORRUPT, PROBLEM, WINDOW, RECORDS, TRACE_HASH)
AGAIN = "\t"
"""Between the name of a door and its number, where several sources pass doors of one name."""
_NO_TIME = -1
_LATE = "at or behind the late bound"
_DUPLICATE = "a row of its key was taken before"
PARKED = "parked"
"""The door of rows that wait until their window is on time."""
KEYS = "keys"
"""What the names of doors begin with that count rows by their key: "keys.window"."""
AGES = "ages"
"""What the names of doors begin with that count rows by their age: "ages.event.trades"."""
EXPANDED = "expanded"
"""A door that lets every row pass. It counts a record's second window and further ones."""
AFTER = "after-"
"""With the name of an operator another such door: it counts the rows that go on from there, and the records that they are of."""


def no_tables(name: str, conditions: Conditions | None = None) -> TableRows:
    """Of a query that looks rows up in no table."""
    raise AssertionError(f"no table {name} was read, with or without {conditions}")


@dataclass
class SideDoors:
    """Takes rejected, filtered and late rows out of the plan of one query; duplicates too, if the job asks for them.

    `directories` has the staging directory of each side output. Rows of one without a directory are only counted. `tables` gives the tables that
    rows are looked up in.
    """

    jvm: _jvm.Doors
    directories: dict[Side, str]
    tables: Callable[[str, Conditions | None], TableRows] = no_tables
    shapes: dict[Side, list[StructType]] = field(default_factory=dict)
    _number: int = 0
    _uses: Counter[str] = field(default_factory=Counter)

    def table(self, name: str, conditions: Conditions | None = None) -> TableRows:
        return self.tables(name, conditions)

    def clock(self) -> Column:
        return self.jvm.batch_clock()

    def batch(self) -> Column:
        return self.jvm.batch_number()

    def bound(self) -> Column:
        return self.jvm.late_before(0)

    def reject(self, rows: DataFrame, reason: Column) -> DataFrame:
        rows = rows.withColumn(REASON, reason)
        found = F.col(REASON)
        payload = rejected_row(rows, found)
        return self.divert(rows, REJECTED, found.isNotNull(), payload, found).drop(REASON)

    def drop(self, rows: DataFrame, keep: Column, name: str) -> DataFrame:
        door = self._once_more(f"filtered.{name}")
        # In a proof the sum says which rows have left; else most of them may leave here, and a divert is called through boxed arguments.
        in_proof = TRACE in rows.columns
        out = self.jvm.divert(door, None, F.col(TRACE), F.lit(name)) if in_proof else self.jvm.counted_out(door, name)
        return rows_that_pass(rows, F.when(keep, F.lit(True)).otherwise(out))

    def late(
        self,
        rows: DataFrame,
        decides: Column,
        window_us: int = 0,
        *,
        window: tuple[Column, Column] | None = None,
        side: Side = LATE,
    ) -> DataFrame:
        payload = late_row(rows, window)
        return self.divert(rows.drop(ORIGINAL), side, decides < self.jvm.late_before(window_us), payload, F.lit(_LATE))

    def expanded(self, rows: DataFrame, further: Column) -> DataFrame:
        nothing = F.lit(0).cast("bigint")
        counted = self.jvm.tally(
            self._once_more(EXPANDED), nothing, nothing, []
        )  # a divert would be called through boxed arguments
        return rows_that_pass(rows, F.when(further, counted).otherwise(F.lit(True)))

    def watched(self, rows: DataFrame, key: Sequence[str], operator: str) -> DataFrame:
        if not key:
            return rows
        key_hash = F.xxhash64(*map(quoted, key))
        return rows_that_pass(rows, self.jvm.hot_keys(self._once_more(f"{KEYS}.{operator}"), key_hash))

    def aged(self, rows: DataFrame, source: str, event_time: str | None) -> DataFrame:
        """Lets all rows of a source pass; how old they are is found meanwhile, by their event time and by when a broker took them."""
        instants = {Since.EVENT: event_time, Since.APPEND: APPENDED if APPENDED in rows.columns else None}
        for since, column in instants.items():
            if column is not None:
                micros = F.coalesce(F.unix_micros(quoted(column)), F.lit(_NO_TIME))
                rows = rows_that_pass(rows, self.jvm.ages(f"{AGES}.{since}.{source}", micros))
        return rows.drop(APPENDED)

    def going_on(self, rows: DataFrame, records: Column, *, after: str) -> DataFrame:
        return rows_that_pass(rows, self.jvm.tally(f"{AFTER}{after}", F.lit(0).cast("bigint"), records, []))

    def _once_more(self, door: str) -> str:
        """The name of a door that every source of a union has: a door occurs once in a plan, and its sums are added up by its name."""
        self._uses[door] += 1
        return door if self._uses[door] == 1 else f"{door}{AGAIN}{self._uses[door]}"

    def park(self, rows: DataFrame, directory: str) -> DataFrame:
        """Lets rows pass that go out at once; the others are put aside, below the directory, with the batch that has done it."""
        rows = rows.withColumn(MADE, F.spark_partition_id())  # what is put aside is what a function of the user's has given
        out = self.jvm.divert(PARKED, directory, parked_row(rows, self.batch()), F.col(DUE).cast("string"))
        passed = rows_that_pass(rows, F.when(F.col(DUE).isNotNull(), out).otherwise(F.lit(True)))
        return passed.drop(MADE, DUE, WHOSE)

    def once(self, rows: DataFrame, key: list[str]) -> DataFrame:
        """Spark counts what it drops, see `BatchRows.sums`; which rows these are it does not say, see `Dropped`."""
        directory, once = self.directories.get(DUPLICATE), rows.dropDuplicatesWithinWatermark(key)
        if directory is None:
            return once
        payload = duplicate_row(rows)
        shape = self._shaped(rows, DUPLICATE, payload)
        zone = rows.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC"
        both = self.jvm.dropped(f"{DUPLICATE}.0", directory, shape, _DUPLICATE, WRITTEN, zone)
        # The exchange that the operator asks for, right below its first side: with one between, that side would be in other tasks.
        together = rows.repartition(*map(quoted, _jvm.key_of_deduplication(once)))
        return together.filter(both.before(payload)).dropDuplicatesWithinWatermark(key).filter(both.behind())

    def divert(self, rows: DataFrame, side: Side, leaves: Column, payload: Column, reason: Column) -> DataFrame:
        door = f"{side}.{self._number}"
        self._number += 1
        self._shaped(rows, side, payload)
        directory = self.directories.get(side)
        # Rows that are only counted name no column, so that a columnar source need not read what the job does not use.
        row = F.lit(None).cast("string") if directory is None else F.to_json(payload, WRITTEN)
        out = self.jvm.divert(door, directory, row, reason)
        return rows_that_pass(rows, F.when(leaves, out).otherwise(F.lit(True)))

    def _shaped(self, rows: DataFrame, side: Side, payload: Column) -> StructType:
        """What a door writes of a row, which is remembered by the side."""
        shape = rows.select(payload.alias("row")).schema["row"].dataType
        assert isinstance(shape, StructType), "a payload is a struct of the row's columns"
        self.shapes.setdefault(side, []).append(shape)
        return shape


def rejected_row(rows: DataFrame, reason: Column) -> Column:
    """What is written of a rejected row (struct): its columns, `reason`, and `original`, its bytes."""
    shown = [name for name in rows.columns if name not in _INTERNAL]
    return F.struct(*shown, reason.alias("reason"), *_original(rows))


def late_row(rows: DataFrame, window: tuple[Column, Column] | None) -> Column:
    """What is written of a late row (struct): its columns, the bounds of the window where it has several, and `reason`."""
    shown = [name for name in rows.columns if name not in _INTERNAL]
    bounds = [] if window is None else [window[0].alias("window_start"), window[1].alias("window_end")]
    return F.struct(*shown, *bounds, F.lit(_LATE).alias("reason"))


def duplicate_row(rows: DataFrame) -> Column:
    """What is written of a row that a deduplication drops (struct): its columns, and `reason`."""
    shown = [name for name in rows.columns if name not in _INTERNAL]
    return F.struct(*shown, F.lit(_DUPLICATE).alias("reason"))


def require_every_copy(output: str, batch: int, *, dropped: int, written: int) -> None:
    """DivertError unless as many rows were written as Spark's own metric says that its deduplication has dropped (R15)."""
    if dropped != written:
        raise DivertError(
            f"Spark dropped {dropped} duplicates in batch {batch}, and {written} rows were written for the output {output}.",
            required="Each row that deduplicate() drops is a row of that output.",
            remedy="Nothing of the batch is published. Please report it; without that output duplicates are counted, and the job goes on.",
        )


def parked_row(rows: DataFrame, batch: Column) -> Column:
    """What is written of a row that waits (string): its columns, hidden ones too, and the batch that has put it aside.

    In front is the end of its window: a reader that sees there that the row is not due need not parse the rest.
    """
    others = [name for name in rows.columns if name not in (ORIGINAL, MADE, ADDED, DUE)]
    kept = [F.col(quoted(name)).alias(name) for name in (DUE, *others)]
    return F.to_json(F.struct(*kept, batch.alias(BATCH)), WRITTEN)


def rows_that_pass(rows: DataFrame, keep: Column) -> DataFrame:
    """The rows for which `keep`, a condition with an effect, is true; it sees them as a transform below them has made them."""
    return rows.filter(F.when(F.col(MADE) >= 0, keep) if MADE in rows.columns else keep)


def _original(rows: DataFrame) -> list[Column]:
    """The original bytes: as text where they are valid UTF-8, else in base64, as always in a binary format; for Parquet the row as JSON."""
    if ORIGINAL not in rows.columns:
        shown = [name for name in rows.columns if name not in _INTERNAL]
        return [F.to_json(F.struct(*shown), WRITTEN).alias("original")]
    if isinstance(rows.schema[ORIGINAL].dataType, BinaryType):  # a text of such bytes would be full of control characters
        return [F.lit(None).cast("string").alias("original"), _base64(F.col(ORIGINAL)).alias("original_base64")]
    valid = F.is_valid_utf8(ORIGINAL)
    return [
        F.when(valid, F.col(ORIGINAL)).alias("original"),
        F.when(~valid, _base64(F.col(ORIGINAL))).alias("original_base64"),
    ]


def _base64(column: Column) -> Column:
    """Base64 in one line; Spark breaks it after 76 characters."""
    return F.replace(F.base64(column.cast("binary")), F.lit("\r\n"), F.lit(""))
