"""The mistake: totals are kept in a store beside the checkpoint, and every batch is added to what is there."""

import json

from streamproof.connectors import Sink
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section


class RunningTotals(Sink):
    """Adds each row to the total of its shop and minute in `_totals.json`, and publishes the new totals.

    It looks into its ledger like a good sink, but the store is not part of that transaction: a crash between the two leaves the
    addition done and the batch undone, and the replay adds once more.
    """

    guarantee = "each batch is published once"

    def published(self, batch: int) -> LedgerEntry | None:
        text = self.place.storage.read(f"{self._directory(batch)}/_ledger.json")
        return LedgerEntry.from_json(text) if text else None

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        path, storage = self.place.path, self.place.storage
        totals = json.loads(storage.read(f"{path}/_totals.json") or "{}")
        rows = []
        for file in section.files:
            for line in (storage.read(f"{path}/{section.directory}/{file.name}") or "").splitlines():
                row = json.loads(line)
                total = totals.setdefault(f"{row['shop']} {row['window_start']}", {})
                for name, value in row.items():
                    total[name] = total.get(name, 0) + value if isinstance(value, int | float) else value
                rows.append(json.dumps(total))
        storage.write(f"{path}/_totals.json", json.dumps(totals))  # the state moves on here ...
        hidden = f"{path}/_publishing/{manifest.batch:06d}"
        storage.write(f"{hidden}/part.json", "\n".join(rows))
        storage.write(f"{hidden}/_ledger.json", entry_of(manifest, section).to_json())
        storage.rename(hidden, self._directory(manifest.batch))  # ... and the batch is done only here

    def _directory(self, batch: int) -> str:
        return f"{self.place.path}/batch={batch:06d}"
