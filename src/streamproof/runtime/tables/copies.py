"""The kept versions of a table: a copy of its rows for each content, in the checkpoint of the query that uses it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.connectors.files.sink import NO_MARKER
from streamproof.connectors.lookups import reading
from streamproof.runtime.tables.conditions import Rejected, Ruled
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
        self._whole: set[str] = set()

    def keep(
        self, table: "TableRows", uses: "Sequence[Use]", attempt: str, ruled: Ruled | None = None
    ) -> tuple[Version, Sequence[Rejected]]:
        """Writes the rows of a table down, looks whether they can be looked up in, and gives them the id of their content.

        The table is read once: what is looked at, and given to batches, is what was written. Of conditions all records are written first, since
        an earlier one of a rule counts where the newest is none.

        Parameters
        ----------
        attempt
            What the folder is called until its rows are whole; of no other attempt.
        ruled
            Where the table has conditions: those that are none are rejected.

        Raises
        ------
        StreamproofError
            If the rows cannot be read, or not be looked up in; nothing of them stays.
        """
        staging = f"{self.folder}/{STAGED}/{attempt}"
        staged, records = f"{staging}/rows", f"{staging}/records"
        self._storage.delete(staging)
        rejected: Sequence[Rejected] = ()
        try:
            with reading(self.name):
                if ruled is None:
                    _write(table.current, staged)
                else:
                    _write(table.rows, records)
            if ruled is not None:
                table, rejected = ruled.admitted(replace(table, rows=self._rows(records)))
                _write(table.rows, staged)
            copy = self._rows(staged)
            require_fit(self.name, copy, table, uses)
            id_, rows = _identity(copy)
            self._move(staged, id_)
        finally:
            self._storage.delete(staging)
        return Version(id_, f"{self.folder}/{id_}", self._size(id_), rows, copy.schema), rejected

    def _move(self, staged: str, id_: str) -> None:
        """Puts rows where those of their id belong, unless they are there. What another process has left there is read first: nothing makes files
        outlast a power failure, and the id says which rows they held.
        """
        folder = f"{self.folder}/{id_}"
        if self._storage.exists(folder):
            if id_ in self._whole or self._identity_at(folder) == id_:
                self._whole.add(id_)
                return
            self._storage.delete(folder)
        self._storage.rename(staged, folder)
        self._whole.add(id_)

    def _identity_at(self, folder: str) -> str:
        """The id of the rows in a folder; empty where they cannot be read."""
        try:
            return _identity(self._rows(folder))[0]
        except Exception as problem:  # what Spark and its readers raise over files has no common type
            if _jvm.is_gone(problem) or not _jvm.is_of_spark(problem):
                raise
            return ""

    def find(self, id_: str) -> Version | None:
        """A version that is kept; None where there is none of that id, or its rows cannot be read."""
        folder = f"{self.folder}/{id_}"
        if not id_ or not self._storage.exists(folder) or not self._identity_at(folder):
            return None
        return Version(id_, folder, self._size(id_), -1, self._rows(folder).schema)

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


def _write(rows: "DataFrame", folder: str) -> None:
    # One file also of a table without rows, which says the columns.
    _jvm.write_rows(rows.coalesce(1), "parquet", folder, NO_MARKER)


def _identity(rows: "DataFrame") -> tuple[str, int]:
    """What tells the content of rows from that of others, in whatever order they are; and how many there are."""
    from pyspark.sql import functions as F

    text = F.sha2(F.to_json(F.struct(*map(quoted, rows.columns)), WHOLE_TEXT), 256)
    sums = [F.sum(F.conv(F.substring(text, start, 15), 16, 10).cast("decimal(38,0)")) for start in (1, 16, 31)]
    (found,) = rows.agg(F.count(F.lit(1)).alias("rows"), *(total.alias(f"sum{n}") for n, total in enumerate(sums))).collect()
    said = "\n".join((rows.schema.json(), *(str(found[name]) for name in ("rows", "sum0", "sum1", "sum2"))))
    return hashlib.sha256(said.encode()).hexdigest()[:16], int(found["rows"])
