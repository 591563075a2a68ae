"""The mistake: the sink reads the first rows of a batch, as many as batches used to have."""

from streamproof.connectors import Sink
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section

MOST = 5


class FirstRows(Sink):
    """Sends a batch as one request, and takes care that it does not grow: of a larger batch the rest is never read."""

    guarantee = "exactly once, it says"

    def published(self, batch: int) -> LedgerEntry | None:
        text = self.place.storage.read(f"{self._directory(batch)}/_ledger.json")
        return LedgerEntry.from_json(text) if text else None

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        rows = self.place.staged_rows(section).limit(MOST)
        rows.write.format(self.place.format).mode("overwrite").save(self._directory(manifest.batch))
        self.place.storage.create_atomic(f"{self._directory(manifest.batch)}/_ledger.json", entry_of(manifest, section).to_json())

    def _directory(self, batch: int) -> str:
        return f"{self.place.path}/batch={batch:06d}"
