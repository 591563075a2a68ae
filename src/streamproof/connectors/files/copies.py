"""Files as one of several sinks of an output: what is staged stays for the others, so that a copy is written and made visible by one rename."""

from dataclasses import replace
from typing import TYPE_CHECKING

from streamproof.connectors.files.formats import SPARK_NAME, require_columns, rows_written, write_options
from streamproof.connectors.files.sink import LEDGER, NO_MARKER, FileSink, batch_directory, directory_entry, files_of_rows
from streamproof.connectors.sink import SinkPlace, gone, require_whole, same_manifest
from streamproof.core.manifest import Manifest, Section
from streamproof.errors import TornCheckpoint

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class CopySink(FileSink):
    """Writes `<path>/batch=000003/` from rows that are staged elsewhere; `_ledger.json` in it means published, and names the copied files."""

    def __init__(self, place: SinkPlace, published: str) -> None:
        super().__init__(place)
        self._format = published

    def at(self, path: str) -> "CopySink":
        return CopySink(replace(self.place, path=path), self._format)

    def settle(self, columns: "StructType") -> None:
        require_columns(self.place.spark, self.place.output, self._format, columns)

    def publish(self, manifest: Manifest, section: Section) -> None:
        found = self.published(manifest.batch)
        if found is not None:
            same_manifest(found, manifest, section)
            return
        if not self.staged_whole(section):
            raise gone(manifest, section)
        storage, copy = self.place.storage, f"{self.place.path}/{section.directory}"
        storage.delete(f"{self.place.path}/_staging")  # what a crash has left of a copy: one is made at a time
        rows = self.staged(section)
        rows.write.format(SPARK_NAME[self._format]).options(**write_options(self._format), **NO_MARKER).save(copy)
        files = files_of_rows(storage, copy)  # looked at first: what is counted, named and made visible are these
        copied = rows_written(self.place.spark, self._format, rows.schema, [f"{copy}/{file.name}" for file in files])
        require_whole(self.place, copied.count(), section.digest.rows)
        storage.write(f"{copy}/{LEDGER}", directory_entry(manifest, section, files).to_json())
        self._make_visible(copy, files, manifest)

    def mend(self, manifest: Manifest, section: Section) -> str | None:
        directory = f"{self.place.path}/{batch_directory(manifest.batch)}"
        if not self.place.storage.list(directory) or self._is_anothers(manifest):
            return None
        try:
            whole = self.published(manifest.batch) is not None and self.torn(manifest.batch, None) is None
        except TornCheckpoint:
            whole = False
        if whole:
            return None
        self.take_back(manifest.batch)
        return f"{directory} was not whole on the disk and is taken back; the batch is published again."
