"""The mistake: rows are appended whenever a batch comes, and a batch that runs again comes again."""

from streamproof.connectors.files.sink import LEDGER, FileSink, batch_directory
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import Manifest, Section


class AppendingSink(FileSink):
    """Appends the rows of a batch and notes it in the ledger, which it never looks into."""

    guarantee = "appends"

    def publish(self, manifest: Manifest, section: Section) -> None:
        directory = f"{self.place.path}/{batch_directory(manifest.batch)}"
        self.place.staged_rows(section).write.format(self.place.format).mode("append").save(directory)
        self.place.storage.write(f"{directory}/{LEDGER}", entry_of(manifest, section).to_json())
