"""The twin: rows first, and the mark when they are durable; what a crash left without its mark is written over."""

from streamproof.connectors import Sink
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section


class DoneLast(Sink):
    """Writes the rows, then the ledger entry. Until the entry is there the directory may be whole or not, and is done again."""

    guarantee = "exactly once for readers that honour the ledger"

    def published(self, batch: int) -> LedgerEntry | None:
        text = self.place.storage.read(f"{self._directory(batch)}/_ledger.json")
        return LedgerEntry.from_json(text) if text else None

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        directory = self._directory(manifest.batch)
        self.place.staged_rows(section).write.format(self.place.format).mode("overwrite").save(directory)
        self.place.storage.create_atomic(f"{directory}/_ledger.json", entry_of(manifest, section).to_json())

    def _directory(self, batch: int) -> str:
        return f"{self.place.path}/batch={batch:06d}"
