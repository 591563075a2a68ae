"""The log of a Delta Lake table on local disk, read without Spark: which files are in the table, and which batch has added each."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

LOG = "_delta_log"


class UnreadableTable(ValueError):
    """The table is damaged; the text says how."""


class NotReadHere(Exception):
    """The table may be sound, and takes Delta Lake itself to be read; the text says why."""


@dataclass(frozen=True)
class TableFile:
    """A file of a table.

    Parameters
    ----------
    partition
        The values of the columns that the table is partitioned by, as the log writes them.
    batch
        The `txn` version of the commit that has added it: of a stream's sink the number of the batch. None where it has none.
    """

    path: str
    partition: Mapping[str, str | None] = field(default_factory=dict)
    batch: int | None = None


def files_of(table: Path) -> list[TableFile]:
    """The files of the newest version of a table, in the order in which they were added.

    Raises
    ------
    UnreadableTable
        If a commit is missing or torn.
    NotReadHere
        If the table has what takes Delta Lake itself to be read.
    """
    found: dict[str, TableFile] = {}
    for actions in _commits(table):
        batch = next((int(action["txn"]["version"]) for action in actions if "txn" in action), None)
        for action in actions:
            if "remove" in action:
                found.pop(action["remove"]["path"], None)
            elif "add" in action:
                added = action["add"]
                if added.get("deletionVector"):
                    raise NotReadHere("it has deletion vectors: set delta.enableDeletionVectors to false in the proof")
                found[added["path"]] = TableFile(unquote(added["path"]), added.get("partitionValues") or {}, batch)
            elif "metaData" in action:
                mode = action["metaData"].get("configuration", {}).get("delta.columnMapping.mode", "none")
                if mode != "none":
                    raise NotReadHere("its columns have other names in its files: delta.columnMapping.mode is not none")
    return list(found.values())


def _commits(table: Path) -> Iterator[list[dict[str, Any]]]:
    numbers = sorted(int(path.stem) for path in (table / LOG).glob("*.json") if path.stem.isdigit())
    if numbers != list(range(len(numbers))):
        raise UnreadableTable(f"its log has the commits {numbers}: some are missing")
    for number in numbers:
        name = f"{number:020}.json"
        try:
            yield [json.loads(line) for line in (table / LOG / name).read_text(encoding="utf-8").splitlines() if line.strip()]
        except ValueError:
            raise UnreadableTable(f"{LOG}/{name} is cut short") from None
