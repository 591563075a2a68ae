"""The twin: rows first, and the mark when they are durable; what a crash left without its mark is written over."""

from streamproof.connectors.files.sink import LEDGER, FileSink, batch_directory
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import Manifest, Section


class DoneLast(FileSink):
    """Writes the rows, then the ledger entry. Until the entry is there the directory may be whole or not, and is done again."""

    guarantee = "exactly once for readers that honour the ledger"

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        directory = f"{self.place.path}/{batch_directory(manifest.batch)}"
        self.place.staged_rows(section).write.format(self.place.format).mode("overwrite").save(directory)
        self.place.storage.create_atomic(f"{directory}/{LEDGER}", entry_of(manifest, section).to_json())
