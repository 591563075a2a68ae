"""The twin: the sink reads a batch to its end, however large it is."""

from streamproof.connectors import Sink
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section


class AllRows(Sink):
    """Writes all rows of a batch; Spark does it in parts, and none of them has to fit into the driver."""

    guarantee = "exactly once for readers that honour the ledger"

    def published(self, batch: int) -> LedgerEntry | None:
        text = self.place.storage.read(f"{self._directory(batch)}/_ledger.json")
        return LedgerEntry.from_json(text) if text else None

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        rows = self.place.staged_rows(section)
        rows.write.format(self.place.format).mode("overwrite").save(self._directory(manifest.batch))
        self.place.storage.create_atomic(f"{self._directory(manifest.batch)}/_ledger.json", entry_of(manifest, section).to_json())

    def _directory(self, batch: int) -> str:
        return f"{self.place.path}/batch={batch:06d}"
