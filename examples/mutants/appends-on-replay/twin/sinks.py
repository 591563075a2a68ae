"""The twin: it looks into the ledger first, and rows and ledger entry become visible together."""

from streamproof.connectors.files.sink import LEDGER, FileSink, batch_directory
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import Manifest, Section


class LookingSink(FileSink):
    """Writes rows and ledger entry where no reader looks, then renames the directory: done, or not begun."""

    guarantee = "exactly once (one directory a batch, with its ledger)"

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        hidden = f"{self.place.path}/_publishing/{manifest.batch:06d}"
        self.place.staged_rows(section).write.format(self.place.format).mode("overwrite").save(hidden)
        self.place.storage.write(f"{hidden}/{LEDGER}", entry_of(manifest, section).to_json())
        self.place.storage.rename(hidden, f"{self.place.path}/{batch_directory(manifest.batch)}")
