"""The files of the state: which operators, partitions and stores there are, which files a version needs, and how large they are. No JVM is needed."""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from streamproof.checkpoint.folder import STATE, list_names, read_text
from streamproof.checkpoint.schemas import Schema, UnreadSchema, read_schemas

DEFAULT = "default"
_FILE = re.compile(r"(?P<version>\d+)(?:_(?P<id>[0-9a-fA-F-]{36}))?\.(?P<kind>zip|snapshot|changelog|delta)")
_SNAPSHOTS = ("zip", "snapshot")
_NO_STORES = ("SSTs", "logs")
_V3 = "_stateSchema"
_METADATA = "_metadata"


@dataclass(frozen=True, slots=True)
class StateFile:
    """A file of one version of a store; a snapshot stands alone, a change needs the version before it.

    Parameters
    ----------
    version
        1 after batch 0.
    id
        In the file's name, from checkpoint format 2 on; else "".
    """

    path: Path
    version: int
    id: str
    kind: str
    size: int

    @property
    def is_snapshot(self) -> bool:
        return self.kind in _SNAPSHOTS


@dataclass(frozen=True)
class Needed:
    """What a start from a version of a store reads: its files, the newest last, and in a word what is not there."""

    files: tuple[StateFile, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Store:
    """One store of one partition of an operator.

    Parameters
    ----------
    name
        "default", or one of several, as of the sides of a join.
    folder
        Where its files are.
    """

    operator: int
    partition: int
    name: str
    folder: Path

    @cached_property
    def files(self) -> tuple[StateFile, ...]:
        found = []
        for name in list_names(self.folder):
            match = _FILE.fullmatch(name)
            if match is not None:
                path = self.folder / name
                found.append(StateFile(path, int(match["version"]), match["id"] or "", match["kind"], path.stat().st_size))
        return tuple(sorted(found, key=lambda file: (file.version, not file.is_snapshot, file.id)))

    @cached_property
    def tables(self) -> Mapping[str, int]:
        """The table files of RocksDB, with their bytes."""
        folder = self.folder / "SSTs"
        return {name: (folder / name).stat().st_size for name in list_names(folder) if name.endswith(".sst")}

    def needed(self, version: int, ids: Mapping[int, str]) -> Needed:
        """The files that a start from a version reads: the newest snapshot up to it, and each change since.

        Parameters
        ----------
        ids
            By version the id that the commit log names; where it names none, any file of the version counts.
        """
        found: list[StateFile] = []
        for number in range(version, 0, -1):
            there = [file for file in self.files if file.version == number and ids.get(number, file.id) == file.id]
            if not there:
                name = f"{number}_{ids[number]}" if ids.get(number) else str(number)
                return Needed(tuple(found[::-1]), (name,))
            found.append(there[0])  # a snapshot stands before a change
            if there[0].is_snapshot:
                break
        return Needed(tuple(found[::-1]))

    def bytes_of(self, needed: Needed) -> int:
        """The bytes that a start reads: of the files, and of the table files that its snapshot names."""
        total = 0
        for file in needed.files:
            total += file.size
            total += sum(tables_of(file).values())
        return total

    def rows_of(self, needed: Needed) -> int | None:
        """How many rows the version has, where its only file is a snapshot of RocksDB that counts them; else None."""
        if len(needed.files) != 1 or needed.files[0].kind != "zip" or needed.missing:
            return None
        counted = (snapshot_of(needed.files[0].path) or {}).get("numKeys", -1)
        return counted if isinstance(counted, int) and counted >= 0 else None


@dataclass(frozen=True)
class Operator:
    """A stateful operator.

    Parameters
    ----------
    name
        Spark's name of it. Checkpoints of Spark before 4.0 do not say it: it is then told by its schema, and "" where that does not tell.
    partitions
        How many it has by its metadata; None where that does not say it.
    variables
        Of `transformWithState`, by name the type of each state variable, as Spark calls it.
    time_mode
        Of `transformWithState`: "EventTime", "ProcessingTime" or "None".
    schemas
        Of its stores or variables.
    unread
        What could not be read of it, in sentences.
    """

    number: int
    name: str
    partitions: int | None
    stores: tuple[Store, ...]
    variables: Mapping[str, str]
    time_mode: str
    schemas: tuple[Schema, ...]
    unread: tuple[str, ...] = ()


def snapshot_of(path: Path) -> dict[str, Any] | None:
    """What a snapshot of RocksDB says of itself: its table files ("sstFiles"), and "numKeys", -1 where they are not counted; None if it is torn."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = json.loads(archive.read("metadata").decode("utf-8").partition("\n")[2])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
    return found if isinstance(found, dict) and all(map(_is_table, _tables(found))) else None


def tables_of(file: StateFile) -> Mapping[str, int]:
    """The table files that a snapshot of RocksDB names, with their bytes; none of another file, nor of one that is torn."""
    found = snapshot_of(file.path) if file.kind == "zip" else None
    return {table["dfsSstFileName"]: table["sizeBytes"] for table in _tables(found or {})}


def _tables(snapshot: Mapping[str, Any]) -> Sequence[Any]:
    tables = snapshot.get("sstFiles", ())
    return tables if isinstance(tables, list | tuple) else (None,)


def _is_table(table: Any) -> bool:
    return isinstance(table, dict) and isinstance(table.get("dfsSstFileName"), str) and isinstance(table.get("sizeBytes"), int)


def read_operators(checkpoint: Path) -> list[Operator]:
    """The stateful operators of a checkpoint, with what can be known of them from their files."""
    state = checkpoint / STATE
    return [_operator(state / name) for name in sorted(list_names(state), key=_in_order) if name.isdigit()]


def _operator(folder: Path) -> Operator:
    unread: list[str] = []
    metadata = _metadata(folder, unread)
    stores = tuple(_stores(folder))
    said = _said(folder, metadata, unread)
    schemas = tuple(_schemas(folder, stores, unread))
    return Operator(
        int(folder.name),
        said.name or _told_by(stores, schemas),
        said.partitions,
        stores,
        said.variables,
        said.time_mode,
        schemas,
        tuple(unread),
    )


class _Said(NamedTuple):
    """What the metadata of an operator say of it."""

    name: str = ""
    partitions: int | None = None
    variables: Mapping[str, str] = {}
    time_mode: str = ""


def _said(folder: Path, metadata: Mapping[str, Any], unread: list[str]) -> _Said:
    try:
        declared = (metadata.get("stateStoreInfo") or [{}])[0].get("numPartitions")
        properties = _json(metadata.get("operatorPropertiesJson") or "{}")
        return _Said(
            str(metadata.get("operatorInfo", {}).get("operatorName", "")),
            None if declared is None else int(declared),
            {str(one["stateName"]): str(one["stateVariableType"]) for one in properties.get("stateVariables", ())},
            str(properties.get("timeMode", "")),
        )
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as problem:
        unread.append(f"The metadata of {STATE}/{folder.name} cannot be read, and name the operator: {problem!r}.")
        return _Said()


def _told_by(stores: Iterable[Store], schemas: Iterable[Schema]) -> str:
    """The name of an operator by what only it keeps; what has one store and nothing of the others is an aggregate."""
    if any(store.name == "left-keyWithIndexToValue" for store in stores):
        return "symmetricHashJoin"
    for schema in schemas:
        value = [column.name for column in schema.value]
        told = _BY_VALUE.get(value[0] if value else "") or _BY_LAST.get(value[-1] if value else "")
        if told is None and schema.name == DEFAULT and value:
            told = _LIMIT if [column.type for column in schema.key] == ["void"] else _AGGREGATE
        if told is not None:
            return told
    return ""


_AGGREGATE, _LIMIT = "stateStoreSave", "globalLimit"
_BY_VALUE: Mapping[str, str] = {
    "expiresAtMicros": "dedupeWithinWatermark",
    "session_window": "sessionWindowStateStoreSaveExec",
    "groupState": "flatMapGroupsWithState",
    "__dummy__": "dedupe",
}
_BY_LAST: Mapping[str, str] = {"timeoutTimestamp": "flatMapGroupsWithState"}
"""The first column of a state's value, or its last one, and the operator that keeps it."""


def _metadata(folder: Path, unread: list[str]) -> Mapping[str, Any]:
    """What the operator's metadata says: of version 1, or the newest file of version 2."""
    place = folder / _METADATA
    newest = max((name for name in list_names(place / "v2") if name.isdigit()), key=int, default=None)
    path = place / "metadata" if newest is None else place / "v2" / newest
    text = read_text(path) if path.is_file() else None
    if text is None:
        return {}
    found = _json(text.partition("\n")[2])
    if not found:
        unread.append(f"{STATE}/{folder.name}/{path.relative_to(folder)} is torn: it names the operator.")
    return found


def _stores(folder: Path) -> Iterator[Store]:
    number = int(folder.name)
    for partition in sorted((name for name in list_names(folder) if name.isdigit()), key=int):
        inner = folder / partition
        several = [
            name for name in list_names(inner) if not name.startswith("_") and name not in _NO_STORES and (inner / name).is_dir()
        ]
        for name in several or (DEFAULT,):
            yield Store(number, int(partition), name, inner / name if several else inner)


def _schemas(folder: Path, stores: tuple[Store, ...], unread: list[str]) -> Iterator[Schema]:
    files = [(store.name, store.folder / _METADATA / "schema") for store in stores if store.partition == 0]
    for name in list_names(folder / _V3):
        there = list_names(folder / _V3 / name)
        newest = max(there, key=lambda one: _in_order(one.partition("_")[0]), default=None)
        if newest is not None:
            files.append((name, folder / _V3 / name / newest))
    for name, path in files:
        if not path.is_file():
            continue
        try:
            yield from read_schemas(path, name)
        except (UnreadSchema, OSError) as problem:
            unread.append(f"{STATE}/{folder.name}/{path.relative_to(folder)} cannot be read: {problem}.")


def _in_order(name: str) -> int:
    return int(name) if name.isdigit() else -1


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
