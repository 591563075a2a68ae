"""The mistake: the batch is marked as done first, and its rows are written afterwards."""

from streamproof.connectors import Sink
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section


class DoneFirst(Sink):
    """Writes the ledger entry, then the rows: after a crash between the two the ledger says that nothing is left to do."""

    guarantee = "no batch is published twice"

    def published(self, batch: int) -> LedgerEntry | None:
        text = self.place.storage.read(f"{self._directory(batch)}/_ledger.json")
        return LedgerEntry.from_json(text) if text else None

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        directory = self._directory(manifest.batch)
        self.place.storage.create_atomic(f"{directory}/_ledger.json", entry_of(manifest, section).to_json())
        self.place.staged_rows(section).write.format(self.place.format).mode("append").save(directory)

    def _directory(self, batch: int) -> str:
        return f"{self.place.path}/batch={batch:06d}"
