"""Rows of windows that are not on time yet: Spark has given them, and they wait beside the checkpoint (`emit="corrections"`).

Each batch puts aside what it has changed and is not due, and publishes what is due by its watermark: of the rows of a window the newest. Files are
never changed. The manifest of a batch names those that it needs, so that it can be computed again from them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    DataType,
    DayTimeIntervalType,
    MapType,
    StringType,
    YearMonthIntervalType,
)

from streamproof.connectors.files.sink import files_of_rows
from streamproof.connectors.json_records import types_in
from streamproof.core.manifest import Manifest, Parked
from streamproof.errors import JobDefinitionError, RemedyAction, StagedRowsGone, TornCheckpoint
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.rows.reports import DoorSums

if TYPE_CHECKING:
    from streamproof._jvm import Storage

FOLDED = "folded"
"""The folder of what a batch has put together, below its own files."""
_UNFIT = ("void", "variant", "interval", "udt")
_KEPT = 2
"""Of so many newest batches what they need is kept: the newest can be computed again."""


@dataclass
class Parking:
    """The rows of one query that wait.

    Parameters
    ----------
    lateness_us
        A window is on time once watermark + this reaches its end.
    """

    storage: "Storage"
    manifests: ManifestStore
    lateness_us: int
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

    def folded(self, batch: int, attempt: str, ends: Mapping[int, int]) -> Parked:
        """What stands for all that waits, once its rows lie together in files of this attempt; by end of a window how many there are."""
        self._there.setdefault(batch, set()).add(attempt)
        files = tuple(
            replace(file, name=f"{FOLDED}/{file.name}") for file in files_of_rows(self.storage, self.path_of_folded(attempt))
        )
        return Parked(batch, attempt, files, dict(sorted(ends.items())), folded=True)

    def sizes(self, named: Sequence[Parked]) -> dict[str, int]:
        """By path the bytes of the files with these rows, as their manifests have them."""
        return {f"{self._path(one.attempt)}/{file.name}": file.size for one in named for file in one.files}

    def path_of_folded(self, attempt: str) -> str:
        """Where an attempt puts the rows together that go on waiting."""
        return f"{self._path(attempt)}/{FOLDED}"

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
        inner = self.storage.list(self.path_of_folded(attempt)) if FOLDED in found else {}
        return found | {f"{FOLDED}/{name}": size for name, size in inner.items()}

    def _path(self, attempt: str) -> str:
        return f"{self.manifests.parked_directory}/{attempt}"


def require_writable(rows: DataFrame) -> None:
    """JobDefinitionError for a column whose values JSON changes. Rows wait as JSON."""
    for column in rows.schema.fields:
        why = next((said for said in map(_unfit, types_in(column.dataType)) if said), None)
        if why is not None:
            raise JobDefinitionError(
                f'window(emit="corrections"): the column {column.name} is {column.dataType.simpleString()}.',
                required=f"Rows wait in files of JSON until their window is on time, and {why} would not come back from there.",
                remedy="Cast it in the aggregate, or in a transform after it.",
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
