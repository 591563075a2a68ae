"""The twin: it looks into the ledger first, and rows and ledger entry become visible together."""

from streamproof.connectors import Sink
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section


class LookingSink(Sink):
    """Writes rows and ledger entry where no reader looks, then renames the directory: done, or not begun."""

    guarantee = "exactly once (one directory a batch, with its ledger)"

    def published(self, batch: int) -> LedgerEntry | None:
        text = self.place.storage.read(f"{self._directory(batch)}/_ledger.json")
        return LedgerEntry.from_json(text) if text else None

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        hidden = f"{self.place.path}/_publishing/{manifest.batch:06d}"
        self.place.staged_rows(section).write.format(self.place.format).mode("overwrite").save(hidden)
        self.place.storage.write(f"{hidden}/_ledger.json", entry_of(manifest, section).to_json())
        self.place.storage.rename(hidden, self._directory(manifest.batch))

    def _directory(self, batch: int) -> str:
        return f"{self.place.path}/batch={batch:06d}"
