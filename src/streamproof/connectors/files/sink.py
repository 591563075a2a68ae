"""Directories of files, exactly once: one directory per batch, made visible with its ledger by one rename (R6, R7)."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from streamproof.connectors.files.formats import require_columns
from streamproof.connectors.sink import Sink, SinkPlace, entry_of, same_manifest
from streamproof.core.manifest import LedgerEntry, Manifest, Section, StagedFile
from streamproof.errors import RemedyAction, StagedRowsGone, TornCheckpoint

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from streamproof._jvm import Numbered, Storage

LEDGER = "_ledger.json"
NO_MARKER = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
"""Of Spark's writers: no file `_SUCCESS` among the rows."""
_BATCH = "batch="
_ANY_BATCH = 2**62
OBJECT_STORES = ("s3", "s3a", "s3n", "gs", "oss", "cosn", "obs", "swift", "wasb", "wasbs")


def batch_directory(batch: int) -> str:
    """The name of a batch's directory; Spark reads it as a partition column `batch`."""
    return f"{_BATCH}{batch:06d}"


def guarantee_at(path: str) -> str:
    """What the file system of a path lets us promise: an object store has no rename of a directory, it copies file by file."""
    scheme = path.partition("://")[0] if "://" in path else "file"
    if scheme in OBJECT_STORES:
        return f"not exactly once: {scheme} does not rename a directory at once, a crash can leave half a batch visible"
    return "exactly once (one directory a batch, with its ledger)"


class FileSink(Sink):
    """Writes `<path>/batch=000003/`; `_ledger.json` in it means published."""

    listed = True

    def __init__(self, place: SinkPlace) -> None:
        super().__init__(place)
        self.guarantee = guarantee_at(place.path)

    def settle(self, columns: "StructType") -> None:
        require_columns(self.place.spark, self.place.output, self.place.format, columns)

    def published(self, batch: int) -> LedgerEntry | None:
        path = f"{self.place.path}/{batch_directory(batch)}/{LEDGER}"
        text = self.place.storage.read(path)
        if text is None:
            return None
        try:
            return LedgerEntry.from_json(text, where=path)
        except ValueError as problem:
            raise TornCheckpoint(
                f"{path} is {problem}.",
                required="The ledger tells whether batch {batch} is published.".replace("{batch}", str(batch)),
                remedy=f"Move {self.place.path}/{batch_directory(batch)} away and run again with --replay-last: the batch is done again.",
                action=RemedyAction.MOVE_AWAY,
            ) from problem

    def publish(self, manifest: Manifest, section: Section) -> None:
        found = self.published(manifest.batch)
        if found is not None:
            same_manifest(found, manifest, section)
            return
        staged = f"{self.place.path}/{section.directory}"
        self._verify(staged, section.files, manifest)
        self._drop_unnamed(staged, section)
        self.place.storage.write(f"{staged}/{LEDGER}", directory_entry(manifest, section, section.files).to_json())
        self._make_visible(staged, section.files, manifest)

    def mend(self, manifest: Manifest, section: Section) -> str | None:
        """The rename of a directory can outlive the content of its files (R20).

        A ledger that alone is torn is written again from the manifest; a directory whose rows are not whole is taken back, so
        that the batch publishes it again.
        """
        directory = f"{self.place.path}/{batch_directory(manifest.batch)}"
        there = self.place.storage.list(directory)
        if not there:
            return None
        if self._is_anothers(manifest):
            return None
        whole = all(there.get(file.name) == file.size for file in section.files)
        if not whole and _others(there, section.files):
            return None  # its owner has rewritten it, which nobody does to a batch that was never committed
        if not whole:
            self.place.storage.delete(directory)
            return f"{directory} was not whole on the disk and is taken back; the batch is published again."
        try:
            if self.published(manifest.batch) is not None:
                return None
        except TornCheckpoint:
            self.place.storage.delete(f"{directory}/{LEDGER}")
        self.place.storage.create_atomic(f"{directory}/{LEDGER}", directory_entry(manifest, section, section.files).to_json())
        return f"{directory}/{LEDGER} was torn or missing and is written again from the manifest; its rows are whole."

    def torn(self, batch: int, section: Section | None) -> str | None:
        entry = self.published(batch)
        if entry is None:
            return None
        named = entry.files or (section.files if section is not None else ())
        directory = f"{self.place.path}/{batch_directory(batch)}"
        there = self.place.storage.list(directory)
        rewritten = _others(there, named)
        for file in named:
            found = there.get(file.name)
            if found is None and not rewritten:
                return f"its file {directory}/{file.name} is gone while its ledger is there"
            if found not in (None, file.size):
                return f"its file {directory}/{file.name} is torn: it has {found} bytes of {file.size}"
        return None

    def take_back(self, batch: int) -> None:
        self.place.storage.delete(f"{self.place.path}/{batch_directory(batch)}")

    def batches(self) -> Collection[int]:
        names = self.place.storage.names(self.place.path)
        numbers = (name.removeprefix(_BATCH) for name in names if name.startswith(_BATCH))
        return {int(number) for number in numbers if number.isascii() and number.isdigit()}

    def counted(self, last: int) -> "Numbered":
        return self.place.storage.numbered(self.place.path, _BATCH, last)

    def _is_anothers(self, manifest: Manifest) -> bool:
        """Whether another manifest has published this batch: its rows stand, and publish() says so (R7)."""
        try:
            found = self.published(manifest.batch)
        except TornCheckpoint:
            return False
        return found is not None and found.manifest != manifest.id

    def owner(self) -> LedgerEntry | None:
        newest = self.counted(_ANY_BATCH).newest
        if newest < 0:
            return None
        with suppress(TornCheckpoint):
            found = self.published(newest)
            if found is not None:
                return found
        for batch in sorted(self.batches(), reverse=True):
            with suppress(TornCheckpoint):  # it cannot tell whose it is; the next one may, and publishing stops at it
                found = self.published(batch)
                if found is not None:
                    return found
        return None

    def _make_visible(self, directory: str, files: tuple[StagedFile, ...], manifest: Manifest) -> None:
        """Renames a directory, ledger and all, to that of its batch; StagedRowsGone if `files` are not whole there."""
        published = f"{self.place.path}/{batch_directory(manifest.batch)}"
        self._drop_without_ledger(manifest.batch)
        self.place.storage.rename(directory, published)
        try:
            self._verify(published, files, manifest)
        except StagedRowsGone:  # another driver has cleaned up between the look and the rename: not published, then
            self.place.storage.delete(published)
            raise

    def _drop_without_ledger(self, batch: int) -> None:
        """Removes the directory of a batch whose ledger a power failure has taken, with its manifest.

        One with a ledger is another driver's: it stands, and the rename that follows says so.
        """
        if self.place.storage.exists(f"{self.place.path}/{batch_directory(batch)}") and self.published(batch) is None:
            self.take_back(batch)

    def _drop_unnamed(self, staged: str, section: Section) -> None:
        """The directory becomes visible as a whole: files of attempts that did not count must not (R5)."""
        named = {file.name for file in section.files}
        for name in self.place.storage.list(staged):
            if name not in named:
                self.place.storage.delete(f"{staged}/{name}")

    def _verify(self, staged: str, files: tuple[StagedFile, ...], manifest: Manifest) -> None:
        there = self.place.storage.list(staged)
        for file in files:
            if there.get(file.name) != file.size:
                found = "it is gone" if file.name not in there else f"it has {there[file.name]} bytes"
                raise StagedRowsGone(
                    f"Batch {manifest.batch} of {self.place.output} is not published, and its staged file {staged}/{file.name} is not whole: {found}.",
                    required=f"The manifest names it with {file.size} bytes.",
                    remedy=f"Run again with --replay-last: batch {manifest.batch} is computed again from its recorded input.",
                    action=RemedyAction.REPLAY_LAST,
                    batch=manifest.batch,
                )


def files_of_rows(storage: "Storage", directory: str) -> tuple[StagedFile, ...]:
    """The files of a directory that only one attempt of a batch writes to, by name and size; markers and checksums are left aside."""
    return tuple(StagedFile(name, size) for name, size in storage.list(directory).items() if not name.startswith(("_", ".")))


def directory_entry(manifest: Manifest, section: Section, files: tuple[StagedFile, ...]) -> LedgerEntry:
    """The ledger entry of a directory: it names its files with their bytes, and the batches before (R26)."""
    return replace(entry_of(manifest, section), files=files, earlier=section.earlier)


def _others(there: Mapping[str, int], named: Sequence[StagedFile]) -> bool:
    """Whether a directory has files of rows beside those that are named: its owner has rewritten them, compacted for example."""
    return any(not name.startswith(("_", ".")) for name in there.keys() - {file.name for file in named})
