"""The kept versions of a table: a copy of its rows for each content, in the checkpoint of the query that uses it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.connectors.files.sink import NO_MARKER
from streamproof.connectors.lookups import unreadable
from streamproof.runtime.tables.fitness import require_fit
from streamproof.stream.names import WHOLE_TEXT, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from streamproof.stream.looked_up import TableRows, Use

STAGED = "_staging"


@dataclass(frozen=True)
class Version:
    """A version of a table that is kept: its id, which follows from its content, its folder, the bytes and the number of its rows."""

    id: str
    folder: str
    size: int
    rows: int
    columns: "StructType"


class Copies:
    """The versions of one table.

    Parameters
    ----------
    folder
        Where they lie, a folder each, by their ids.
    """

    def __init__(self, spark: "SparkSession", storage: _jvm.Storage, name: str, folder: str) -> None:
        self._spark, self._storage, self.name, self.folder = spark, storage, name, folder

    def keep(self, table: "TableRows", uses: "Sequence[Use]", attempt: str) -> Version:
        """Writes the rows of a table down, looks whether they can be looked up in, and gives them the id of their content.

        The table is read once: what is looked at, and given to batches, is what was written.

        Parameters
        ----------
        attempt
            What the folder is called until its rows are whole; of no other attempt.

        Raises
        ------
        StreamproofError
            If the rows cannot be looked up in; nothing of them stays.
        """
        staged = f"{self.folder}/{STAGED}/{attempt}"
        self._storage.delete(staged)
        try:
            # One file also of a table without rows, which says the columns.
            self._write(table, staged)
            copy = self._rows(staged)
            require_fit(self.name, copy, table, uses)
            id_, rows = _identity(copy)
        except BaseException:
            self._storage.delete(staged)
            raise
        if self._storage.exists(f"{self.folder}/{id_}"):
            self._storage.delete(staged)
        else:
            self._storage.rename(staged, f"{self.folder}/{id_}")
        return Version(id_, f"{self.folder}/{id_}", self._size(id_), rows, copy.schema)

    def _write(self, table: "TableRows", staged: str) -> None:
        try:
            _jvm.write_rows(table.rows.coalesce(1), "parquet", staged, NO_MARKER)
        except Exception as problem:  # what Spark and its readers raise over rows has no common type
            if _jvm.is_gone(problem) or not _jvm.is_of_spark(problem):
                raise
            raise unreadable(self.name, "", problem) from problem

    def find(self, id_: str) -> Version | None:
        """A version that is kept; None where there is none of that id."""
        folder = f"{self.folder}/{id_}"
        if not id_ or not self._storage.exists(folder):
            return None
        rows = self._rows(folder)
        return Version(id_, folder, self._size(id_), -1, rows.schema)

    def rows(self, version: Version) -> "DataFrame":
        """The rows of a version."""
        return self._rows(version.folder)

    def ids(self) -> list[str]:
        """The ids of all versions that are kept."""
        return [name for name in self._storage.names(self.folder) if not name.startswith(("_", "."))]

    def remove(self, id_: str) -> None:
        self._storage.delete(f"{self.folder}/{id_}")

    def remove_unfinished(self) -> None:
        """Removes what an earlier start has begun to write."""
        self._storage.delete(f"{self.folder}/{STAGED}")

    def _rows(self, folder: str) -> "DataFrame":
        return _jvm.rows_of_named(self._spark, "parquet", [folder])

    def _size(self, id_: str) -> int:
        return sum(size for size in self._storage.list(f"{self.folder}/{id_}").values() if size > 0)


def _identity(rows: "DataFrame") -> tuple[str, int]:
    """What tells the content of rows from that of others, in whatever order they are; and how many there are."""
    from pyspark.sql import functions as F

    text = F.sha2(F.to_json(F.struct(*map(quoted, rows.columns)), WHOLE_TEXT), 256)
    sums = [F.sum(F.conv(F.substring(text, start, 15), 16, 10).cast("decimal(38,0)")) for start in (1, 16, 31)]
    (found,) = rows.agg(F.count(F.lit(1)).alias("rows"), *(total.alias(f"sum{n}") for n, total in enumerate(sums))).collect()
    said = "\n".join((rows.schema.json(), *(str(found[name]) for name in ("rows", "sum0", "sum1", "sum2"))))
    return hashlib.sha256(said.encode()).hexdigest()[:16], int(found["rows"])
