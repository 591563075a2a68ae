"""What is known of the calls of an output: one Parquet folder a try, named by a small file once it is whole; a ledger once all are decided."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.connectors.http.calling import RESULT
from streamproof.core.manifest import LedgerEntry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from streamproof._jvm import Storage

FOLDER = "_calls"
_LEDGER = "_ledger.json"
_NO_MARKER = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}


@dataclass(frozen=True)
class Calls:
    """The calls of one output, below `path`: `batch=N/try-K/*.parquet`, `batch=N/try-K.json`, `batch=N/_ledger.json`."""

    spark: "SparkSession"
    storage: "Storage"
    path: str

    def entry(self, batch: int) -> LedgerEntry | None:
        """The ledger entry of a batch: there means that every call of it is decided."""
        path = f"{self._folder(batch)}/{_LEDGER}"
        text = self.storage.read(path)
        return LedgerEntry.from_json(text, where=path) if text else None

    def newest(self) -> LedgerEntry | None:
        """The entry of the newest batch of which every call is decided."""
        names = self.storage.list(f"{self.path}/{FOLDER}")
        batches = sorted((int(name.removeprefix("batch=")) for name in names if name.startswith("batch=")), reverse=True)
        return next((found for batch in batches if (found := self.entry(batch)) is not None), None)

    def begun(self, batch: int) -> bool:
        """Whether a call of the batch may have been made by an earlier try."""
        return bool(self.storage.list(self._folder(batch)))

    def begin(self, batch: int, number: int) -> bool:
        """Says, before the first call, that there is a try: what it does is not known if it dies. False if another driver has said so."""
        return self.storage.create_atomic(f"{self._folder(batch)}/try-{number}-begun.json", json.dumps({"try": number}))

    def next_try(self, batch: int) -> int:
        """A number that no try has had."""
        taken = [
            name.split("-")[1].removesuffix(".json") for name in self.storage.list(self._folder(batch)) if name.startswith("try-")
        ]
        return max(map(int, taken), default=0) + 1

    def keep(self, batch: int, number: int, results: "DataFrame") -> None:
        """Makes the calls, as the rows are computed, and keeps what became of them."""
        folder = f"{self._folder(batch)}/try-{number}"
        results.write.options(**_NO_MARKER).parquet(folder)
        self.storage.create_atomic(f"{folder}.json", json.dumps({"try": number}))

    def known(self, batch: int) -> "DataFrame | None":
        """What became of the calls of a batch by its whole tries, a row of `RESULT` for each call and try."""
        folder = self._folder(batch)
        whole = [name.removesuffix(".json") for name in self.storage.list(folder) if name.endswith(".json") and "begun" not in name]
        tries = [f"{folder}/{name}" for name in whole if name.startswith("try-")]
        return _jvm.rows_of_named(self.spark, "parquet", tries, columns=RESULT) if tries else None

    def decide(self, entry: LedgerEntry) -> None:
        """Every call of the batch is decided."""
        self.storage.create_atomic(f"{self._folder(entry.batch)}/{_LEDGER}", entry.to_json())

    def clear(self) -> None:
        self.storage.delete(f"{self.path}/{FOLDER}")

    def _folder(self, batch: int) -> str:
        return f"{self.path}/{FOLDER}/batch={batch:06d}"
