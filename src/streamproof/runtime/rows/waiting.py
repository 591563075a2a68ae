"""Rows that wait are read again once their window is on time: of each window the newest, and all that the manifests count."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from streamproof import _jvm
from streamproof.connectors.files.sink import NO_MARKER
from streamproof.connectors.json_records import WRITTEN
from streamproof.core.clock import from_micros
from streamproof.core.manifest import Parked
from streamproof.errors import StagedRowsGone
from streamproof.runtime.rows.doors import rows_that_pass
from streamproof.runtime.rows.parking import Parking
from streamproof.runtime.rows.reports import DoorSums, sums_by_output
from streamproof.stream.names import ADDED, BATCH, CORRUPT, DUE, PLACE, WHOSE

if TYPE_CHECKING:
    from streamproof._jvm import Doors

MOST = 32
"""So many batches may have rows that wait; then one puts them together, and drops those that are not the newest of their window."""
ONE_TASK = 50_000
"""So many rows are read and sorted by one task: sending them to others would take longer."""
_NEVER = 2**63 - 1
_READ, _NEWEST = "waiting", "newest"
"""Two doors that count and let every row pass: all rows that were read, and the newest row of each window, by the end of the window."""


@dataclass(frozen=True)
class Due:
    """Rows that are on time now. Write them, then have them checked, before you ask for others: all batches share one plan."""

    rows: DataFrame
    named: Sequence[Parked]
    above: int
    up_to: int


@dataclass
class Waiting:
    """Reads the rows of one query that wait, in batch after batch.

    Parameters
    ----------
    columns
        Of the query's rows, as Spark gives them.
    finished
        What is done with rows that are due before they are written. It is called once for each plan, and is always the same.
    """

    spark: SparkSession
    doors: "Doors"
    parking: Parking
    columns: StructType
    finished: Callable[[DataFrame], DataFrame]
    _plans: dict[tuple[bool, bool], tuple[_jvm.WaitingRows, DataFrame]] = field(default_factory=dict)
    """By whether one task reads all rows, and whether they are due: what is read is set before each use."""

    def due(self, waiting: Sequence[Parked], before_ms: int, watermark_ms: int) -> Due | None:
        """The rows whose windows are on time by a watermark, and were not by the one before; None where no window is."""
        above, up_to = self.parking.on_time(before_ms), self.parking.on_time(watermark_ms)
        named = [one for one in waiting if any(above < end <= up_to for end in one.ends)]
        return Due(self._newest(named, above, up_to, due=True), named, above, up_to) if named else None

    def sums_of(self, due: Due, batch: int) -> dict[str, DoorSums]:
        """What the tasks that have written rows that are due report.

        Raises
        ------
        StagedRowsGone
            If they have not read all of them.
        """
        return self._reported(batch, due.named, due.above, due.up_to)

    def folded(self, waiting: Sequence[Parked], batch: int, attempt: str, watermark_ms: int) -> tuple[Parked, ...]:
        """The rows that go on waiting in files of this batch, where they lie in those of too many; of each window the newest alone.

        Raises
        ------
        StagedRowsGone
            If not all of them were read.
        """
        if len(waiting) <= MOST:
            return ()
        above = self.parking.on_time(watermark_ms)
        rows = self._newest(waiting, above, _NEVER, due=False)
        _jvm.write_rows(rows, "json", self.parking.path_of_folded(attempt), {**WRITTEN, **NO_MARKER})
        found = self._reported(batch, waiting, above, _NEVER).get(_NEWEST, DoorSums())
        return (self.parking.folded(batch, attempt, {int(end): rows for end, rows in found.reasons.items()}),)

    def _newest(self, named: Sequence[Parked], above: int, up_to: int, *, due: bool) -> DataFrame:
        """The newest row of each window that ends after `above` and not after `up_to` (microseconds UTC), from these files."""
        in_one_task = sum(sum(one.ends.values()) for one in named) <= ONE_TASK
        plan = in_one_task, due
        if plan not in self._plans:
            read, newest = self._planned(in_one_task=in_one_task)
            rows = self.finished(newest.drop(DUE, WHOSE, BATCH)) if due else rows_that_pass(newest, self._counted(_NEWEST))
            self._plans[plan] = read, rows
        read, rows = self._plans[plan]
        read.of(self.parking.sizes(named), above, up_to)
        return rows

    def _planned(self, *, in_one_task: bool) -> tuple[_jvm.WaitingRows, DataFrame]:
        """What reads files, and the newest row of each window in them; one for each plan, as a batch can write what is due and what it folds."""
        read = _jvm.WaitingRows(self.spark, DUE, self._written, {"mode": "FAILFAST", "columnNameOfCorruptRecord": CORRUPT})
        rows = rows_that_pass(read.rows(), self._counted(_READ))
        if in_one_task:
            rows = rows.coalesce(1)
        placed = rows.withColumn(PLACE, F.row_number().over(Window.partitionBy(WHOSE, DUE).orderBy(F.col(BATCH).desc())))
        return read, placed.filter(F.col(PLACE) == 1).drop(PLACE)

    def _counted(self, door: str) -> Column:
        """True, after having counted a row by the end of its window."""
        return ~self.doors.divert(door, None, F.lit(None).cast("string"), F.col(DUE).cast("string"))

    @property
    def _written(self) -> StructType:
        """The columns of the files; see `parked_row`."""
        others = [one for one in self.columns.fields if one.name not in (ADDED, DUE)]
        return StructType([self.columns[DUE], *others, StructField(BATCH, LongType())])

    def _reported(self, batch: int, named: Sequence[Parked], above: int, up_to: int) -> dict[str, DoorSums]:
        sums = sums_by_output(self.doors.drain(batch))
        found = {int(end): rows for end, rows in sums.get(_READ, DoorSums()).reasons.items()}
        least, most = Counter[int](), Counter[int]()
        for one in named:
            ends = {end: rows for end, rows in one.ends.items() if above < end <= up_to}
            most.update(ends)
            least.update(ends if one.counted else dict.fromkeys(ends, 1))
        for end in sorted({*found, *most}):
            if not least[end] <= found.get(end, 0) <= most[end]:
                raise _other_rows(found.get(end, 0), most[end], end, self.parking.manifests.parked_directory)
        return sums


def _other_rows(found: int, known: int, end: int, directory: str) -> StagedRowsGone:
    return StagedRowsGone(
        f"Of the windows that end at {from_micros(end).isoformat()} {found} rows wait in the files below {directory}; "
        f"the manifests of their batches say {known}.",
        required="Spark gives rows that wait once; each must be there when its window is on time.",
        remedy="Restore these files from a backup, or start over with a new checkpoint and --new-output.",
    )
