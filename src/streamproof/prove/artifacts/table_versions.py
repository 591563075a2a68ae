"""Which version of each table the batches of a query have used, and what the kept copy of a version holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamproof.core.manifest import Manifest
from streamproof.prove.artifacts.row_files import rows_of

Rows = tuple[tuple[tuple[str, Any], ...], ...]
"""Rows, each as its columns in the order of their names, in an order that follows from them."""


@dataclass(frozen=True)
class UsedTable:
    """A table of a batch.

    Parameters
    ----------
    version
        The id of the version that it has used, as its manifest says it, or where there is none the file that fixed it.
    fixed
        As that file says it; empty where it is gone.
    number
        Which state of the scenario's table the copy of the version holds; None if it holds none of them, or is gone.
    earliest, latest
        The states that the table can have been in when the version was fixed.
    behind
        For how many batches the table has held something newer than what was used, this one included; 0 if it is the newest.
    """

    batch: int
    table: str
    version: str
    fixed: str
    number: int | None
    earliest: int
    latest: int
    behind: int = 0


def versions_fixed(checkpoint: Path) -> Mapping[int, Mapping[str, str]]:
    """By batch the version of each table that was fixed for it; a torn file says nothing."""
    folder, found = checkpoint / "_streamproof/tables/_pinned", dict[int, Mapping[str, str]]()
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name.isdigit():
            try:
                found[int(path.name)] = dict(json.loads(path.read_text())["tables"])
            except (ValueError, KeyError):
                continue
    return found


def versions_used(manifests: Mapping[int, Manifest], fixed: Mapping[int, Mapping[str, str]]) -> Mapping[int, Mapping[str, str]]:
    """By batch the version of each table that it has used."""
    return {**fixed, **{batch: manifest.fingerprint.tables for batch, manifest in manifests.items() if manifest.fingerprint.tables}}


def copy_of(checkpoint: Path, table: str, version: str) -> Rows | None:
    """What the copy of a version holds; None where it is gone or damaged."""
    folder = checkpoint / "_streamproof/tables" / table / version
    if not version or not folder.is_dir():
        return None
    try:
        return in_order([dict(row) for path in sorted(folder.glob("*.parquet")) if path.name[0] not in "_." for row in rows_of(path)])
    except (ValueError, OSError, pa.ArrowException):
        return None


def in_order(rows: list[dict[str, Any]]) -> Rows:
    """Rows whose values are plain."""
    return tuple(sorted((tuple(sorted(row.items(), key=lambda item: item[0])) for row in rows), key=repr))
