"""The mistake: rows are appended whenever a batch comes, and a batch that runs again comes again."""

from streamproof.connectors import Sink
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section


class AppendingSink(Sink):
    """Appends the rows of a batch and notes it in the ledger, which it never looks into."""

    guarantee = "appends"

    def published(self, batch: int) -> LedgerEntry | None:
        text = self.place.storage.read(f"{self._directory(batch)}/_ledger.json")
        return LedgerEntry.from_json(text) if text else None

    def publish(self, manifest: Manifest, section: Section) -> None:
        directory = self._directory(manifest.batch)
        self.place.staged_rows(section).write.format(self.place.format).mode("append").save(directory)
        self.place.storage.write(f"{directory}/_ledger.json", entry_of(manifest, section).to_json())

    def _directory(self, batch: int) -> str:
        return f"{self.place.path}/batch={batch:06d}"
