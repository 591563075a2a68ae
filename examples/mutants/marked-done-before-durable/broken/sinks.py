"""The mistake: the batch is marked as done first, and its rows are written afterwards."""

from streamproof.connectors.files.sink import LEDGER, FileSink, batch_directory
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import Manifest, Section


class DoneFirst(FileSink):
    """Writes the ledger entry, then the rows: after a crash between the two the ledger says that nothing is left to do."""

    guarantee = "no batch is published twice"

    def publish(self, manifest: Manifest, section: Section) -> None:
        if self.published(manifest.batch) is not None:
            return
        directory = f"{self.place.path}/{batch_directory(manifest.batch)}"
        self.place.storage.create_atomic(f"{directory}/{LEDGER}", entry_of(manifest, section).to_json())
        self.place.staged_rows(section).write.format(self.place.format).mode("append").save(directory)
