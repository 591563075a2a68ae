"""Rows of windows that are not on time yet: Spark has given them, and they wait beside the checkpoint (`emit="corrections"`).

Each batch puts aside what it has changed and is not due, and publishes what is due by its watermark: of the rows of a window the newest. Files are
never changed. The manifest of a batch names those that it needs, so that it can be computed again from them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DayTimeIntervalType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    YearMonthIntervalType,
)

from streamproof import _jvm
from streamproof.connectors.files.sink import NO_MARKER, files_of_rows
from streamproof.connectors.json_records import WRITTEN, types_in
from streamproof.core.manifest import Manifest, Parked
from streamproof.errors import JobDefinitionError, RemedyAction, StagedRowsGone, TornCheckpoint
from streamproof.runtime.manifests import ManifestStore
from streamproof.runtime.reports import DoorSums
from streamproof.stream.names import ADDED, BATCH, CORRUPT, DUE, PLACE, WHOSE

if TYPE_CHECKING:
    from streamproof._jvm import Storage

FOLDED = "folded"
MOST = 32
"""So many batches may have rows that wait; then one puts them together, and drops those that are not the newest of their window."""
_UNFIT = ("void", "variant", "interval", "udt")
_ONE_TASK = 50_000
"""So many rows are read and sorted by one task: sending them to others would take longer."""
_NEVER = 2**63 - 1
_KEPT = 2
"""Of so many newest batches what they need is kept: the newest can be computed again."""


@dataclass
class Parking:
    """The rows of one query that wait.

    Parameters
    ----------
    lateness_us
        A window is on time once watermark + this reaches its end.
    schema
        The columns of the query's rows, as Spark gives them; known once the plan is built.
    """

    spark: SparkSession
    storage: "Storage"
    manifests: ManifestStore
    lateness_us: int
    schema: StructType = field(default_factory=StructType)
    _plans: dict[tuple[bool, bool], tuple[_jvm.WaitingRows, DataFrame]] = field(default_factory=dict)
    """By whether one task reads all rows, and whether they are due: what is read is set before each use."""
    _there: dict[int, set[str]] = field(default_factory=dict)
    """By batch the directories that may be there."""

    def on_time(self, watermark_ms: int) -> int:
        """The end, microseconds UTC, at or below which windows are on time by a watermark."""
        return watermark_ms * 1_000 + self.lateness_us

    def before(self, batch: int) -> tuple[Parked, ...]:
        """What waits when a batch begins.

        Raises
        ------
        TornCheckpoint
            If neither the batch before nor the batch itself says so any more.
        """
        if batch == 0:
            return ()
        last = self.manifests.whole(batch - 1)
        if last is not None:
            on_time = self.on_time(last.fingerprint.watermark_ms)
            folded = [one for one in last.parked if one.folded and one.batch == last.batch]
            return tuple(one for one in folded or last.parked if one.waiting(on_time))
        mine = self.manifests.whole(batch)
        if mine is not None:
            return tuple(one for one in mine.parked if one.batch < batch)
        raise TornCheckpoint(
            f"The manifests {self.manifests.path(batch - 1)} and {self.manifests.path(batch)} are gone or torn.",
            required="They name the rows that wait until their windows are on time; Spark does not give these again.",
            remedy="Restore one of them from a backup of the checkpoint, or start over with a new checkpoint and --new-output.",
        )

    def put_aside(self, batch: int, attempt: str, sums: DoorSums) -> tuple[Parked, ...]:
        """What the tasks of a batch have put aside: nothing, or one entry."""
        if not sums.rows:
            return ()
        self._there.setdefault(batch, set()).add(attempt)
        files = tuple(sorted(sums.files, key=lambda file: file.name))
        return (Parked(batch, attempt, files, {int(end): rows for end, rows in sorted(sums.reasons.items())}),)

    def due(
        self, waiting: Sequence[Parked], before_ms: int, watermark_ms: int, finished: Callable[[DataFrame], DataFrame]
    ) -> DataFrame | None:
        """The rows whose windows are on time by a watermark, and were not by the one before; None where no window is.

        Write them before you ask for those of the next batch: all batches share one plan.

        Parameters
        ----------
        finished
            What is done with the rows before they are written. It is called once for each plan, and is always the same.
        """
        after, up_to = self.on_time(before_ms), self.on_time(watermark_ms)
        named = [one for one in waiting if any(after < end <= up_to for end in one.ends)]
        return self._newest(named, after, up_to, finished) if named else None

    def folded(self, waiting: Sequence[Parked], batch: int, attempt: str, watermark_ms: int) -> tuple[Parked, ...]:
        """The rows that go on waiting in files of this batch, where they lie in those of too many; of each window the newest alone."""
        if len(waiting) <= MOST:
            return ()
        path, on_time = f"{self._path(attempt)}/{FOLDED}", self.on_time(watermark_ms)
        self._there.setdefault(batch, set()).add(attempt)
        _jvm.write_rows(self._newest(waiting, on_time, _NEVER), "json", path, {**WRITTEN, **NO_MARKER})
        files = tuple(replace(file, name=f"{FOLDED}/{file.name}") for file in files_of_rows(self.storage, path))
        ends: dict[int, int] = {}
        for one in waiting:
            for end, rows in one.ends.items():
                if end > on_time:
                    ends[end] = ends.get(end, 0) + rows
        return (Parked(batch, attempt, files, dict(sorted(ends.items())), folded=True),)

    def require_whole(self, committed: Sequence[int]) -> None:
        """StagedRowsGone if a file with rows that wait is not there, or is cut: a power failure can have taken it."""
        for one in self.before(committed[-1] + 1) if committed else ():
            sizes = self._sizes(one.attempt)
            gone = next((file.name for file in one.files if sizes.get(file.name) != file.size), None)
            if gone is None:
                continue
            is_newest = one.batch == committed[-1]
            raise StagedRowsGone(
                f"Rows that wait until their window is on time are {'torn' if gone in sizes else 'gone'}: {self._path(one.attempt)}/{gone}.",
                required="Spark gives them once; the manifest of their batch says what was there.",
                remedy="Run again with --replay-last: the batch is computed again from its recorded input."
                if is_newest
                else "Restore the file from a backup, or start over with a new checkpoint and --new-output.",
                action=RemedyAction.REPLAY_LAST if is_newest else None,
                batch=one.batch,
            )

    def has(self, manifest: Manifest) -> bool:
        """Whether the files that a batch has put aside itself are there."""
        mine = [one for one in manifest.parked if one.attempt == manifest.attempt]
        sizes = self._sizes(manifest.attempt) if mine else {}
        return all(sizes.get(file.name) == file.size for one in mine for file in one.files)

    def drop_attempt(self, attempt: str) -> None:
        """Removes what an attempt has put aside that does not count."""
        self.storage.delete(self._path(attempt))

    def remove_orphans(self) -> None:
        """Removes what no manifest of the newest batches names; what is beyond the next batch belongs to another copy of the checkpoint."""
        newest, planned = self.manifests.batches()[-_KEPT:], self.manifests.newest_planned()
        named = {attempt for batch in newest for attempt in self._named_by(batch)}
        for attempt in self.storage.list(self.manifests.parked_directory):
            batch = _batch_of(attempt)
            if attempt not in named and batch <= planned + 1:
                self.drop_attempt(attempt)
            else:
                self._there.setdefault(batch, set()).add(attempt)

    def prune(self, batch: int) -> None:
        """Removes what neither a batch that was just published needs nor the one before it."""
        named = self._named_by(batch) | self._named_by(batch - 1)
        for number in [number for number in self._there if number <= batch]:
            for attempt in self._there[number] - named:
                self.drop_attempt(attempt)
            self._there[number] &= named
            if not self._there[number]:
                del self._there[number]

    def _named_by(self, batch: int) -> set[str]:
        manifest = self.manifests.whole(batch) if batch >= 0 else None
        return {one.attempt for one in manifest.parked} if manifest is not None else set()

    def _sizes(self, attempt: str) -> dict[str, int]:
        path = self._path(attempt)
        found = self.storage.list(path)
        inner = self.storage.list(f"{path}/{FOLDED}") if FOLDED in found else {}
        return found | {f"{FOLDED}/{name}": size for name, size in inner.items()}

    def _newest(
        self, named: Sequence[Parked], above: int, up_to: int, finished: Callable[[DataFrame], DataFrame] | None = None
    ) -> DataFrame:
        """Of the rows in these files whose windows end above one instant and up to another, microseconds UTC, the newest of each window."""
        in_one_task = sum(sum(one.ends.values()) for one in named) <= _ONE_TASK
        plan = in_one_task, finished is not None
        if plan not in self._plans:
            waiting, newest = self._planned(in_one_task=in_one_task)
            self._plans[plan] = waiting, newest if finished is None else finished(newest.drop(DUE, WHOSE, BATCH))
        waiting, rows = self._plans[plan]
        waiting.of({f"{self._path(one.attempt)}/{file.name}": file.size for one in named for file in one.files}, above, up_to)
        return rows

    def _planned(self, *, in_one_task: bool) -> tuple[_jvm.WaitingRows, DataFrame]:
        """What reads files, and the newest row of each window in them; one for each plan, as a batch can write what is due and what it folds."""
        waiting = _jvm.WaitingRows(self.spark, DUE, self._written, {"mode": "FAILFAST", "columnNameOfCorruptRecord": CORRUPT})
        rows = waiting.rows().coalesce(1) if in_one_task else waiting.rows()
        placed = rows.withColumn(PLACE, F.row_number().over(Window.partitionBy(WHOSE, DUE).orderBy(F.col(BATCH).desc())))
        return waiting, placed.filter(F.col(PLACE) == 1).drop(PLACE)

    @property
    def _written(self) -> StructType:
        return StructType([*(one for one in self.schema.fields if one.name != ADDED), StructField(BATCH, LongType())])

    def _path(self, attempt: str) -> str:
        return f"{self.manifests.parked_directory}/{attempt}"


def require_writable(rows: DataFrame) -> None:
    """JobDefinitionError for a column whose values do not come back from JSON, in which rows wait, as they were."""
    for column in rows.schema.fields:
        why = next((said for said in map(_unfit, types_in(column.dataType)) if said), None)
        if why is not None:
            raise JobDefinitionError(
                f'window(emit="corrections"): the column {column.name} is {column.dataType.simpleString()}.',
                required=f"Rows wait in files of JSON until their window is on time, and {why} would not come back from there.",
                remedy="Cast it in the aggregate, or in a transform behind it.",
            )


def _unfit(type_: DataType) -> str | None:
    if isinstance(type_, MapType) and not isinstance(type_.keyType, StringType):
        return "a map whose keys are no texts"
    if type_.typeName() in _UNFIT or isinstance(type_, DayTimeIntervalType | YearMonthIntervalType):
        return f"a value of the type {type_.simpleString()}"
    return None


def _batch_of(attempt: str) -> int:
    number = attempt.partition("-")[0]
    return int(number) if number.isdigit() else 0
