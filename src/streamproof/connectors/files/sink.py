"""Directories of files, exactly once: one directory per batch, made visible with its ledger by one rename (R6, R7)."""

from streamproof.connectors.sink import Sink, entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.errors import StagedRowsGone, TornCheckpoint, TwoDrivers

LEDGER = "_ledger.json"


def batch_directory(batch: int) -> str:
    """The name of a batch's directory; Spark reads it as a partition column `batch`."""
    return f"batch={batch:06d}"


class FileSink(Sink):
    """Writes `<path>/batch=000003/`; `_ledger.json` in it means published."""

    guarantee = "exactly once (one directory a batch, with its ledger)"

    def published(self, batch: int) -> LedgerEntry | None:
        path = f"{self.place.path}/{batch_directory(batch)}/{LEDGER}"
        text = self.place.storage.read(path)
        if text is None:
            return None
        try:
            return LedgerEntry.from_json(text)
        except ValueError as problem:
            raise TornCheckpoint(
                f"{path} is {problem}.",
                required="The ledger tells whether batch {batch} is published.".replace("{batch}", str(batch)),
                remedy=f"Move {self.place.path}/{batch_directory(batch)} away and run again with --replay-last: the batch is done again.",
            ) from problem

    def publish(self, manifest: Manifest, section: Section) -> None:
        found = self.published(manifest.batch)
        if found is not None:
            same_manifest(found, manifest, section)
            return
        staged = f"{self.place.path}/{section.directory}"
        self._verify(staged, section, manifest)
        self.place.storage.write(f"{staged}/{LEDGER}", entry_of(manifest, section).to_json())
        self.place.storage.rename(staged, f"{self.place.path}/{batch_directory(manifest.batch)}")

    def owner(self) -> LedgerEntry | None:
        batches = [name for name in self.place.storage.list(self.place.path) if name.startswith("batch=")]
        for name in batches[:1]:
            return self.published(int(name.removeprefix("batch=")))
        return None

    def _verify(self, staged: str, section: Section, manifest: Manifest) -> None:
        there = self.place.storage.list(staged)
        for file in section.files:
            if there.get(file.name) != file.size:
                found = "it is gone" if file.name not in there else f"it has {there[file.name]} bytes"
                raise StagedRowsGone(
                    f"Batch {manifest.batch} of {section.output} is not published, and its staged file {staged}/{file.name} is not whole: {found}.",
                    required=f"The manifest names it with {file.size} bytes.",
                    remedy=f"Run again with --replay-last: batch {manifest.batch} is computed again from its recorded input.",
                )


def same_manifest(found: LedgerEntry, manifest: Manifest, section: Section) -> None:
    """TwoDrivers if the ledger entry comes from another manifest than this one (R7)."""
    if found.manifest != manifest.id:
        raise TwoDrivers(
            f"Batch {manifest.batch} of {section.output} was published by the manifest {found.manifest[:8]}; this driver staged {manifest.id[:8]}.",
            required="One driver works on a checkpoint at a time.",
            remedy="Stop the other driver, then run again: the ledger decides what is published.",
        )
