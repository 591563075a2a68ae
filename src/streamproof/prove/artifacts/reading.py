"""What a scenario has left on local disk after recovery: batches, published rows, ledgers, manifests, state. Reading only.

A row counts as published when a reader of the output would see it: it lies in a file no part of whose path begins with "_" or ".".
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from streamproof.checkpoint.logs import (
    files_of_batch,
    is_initial_positions,
    log_number,
    parse_commit,
    parse_initial_positions,
    parse_offsets,
    source_entries,
)
from streamproof.config import output_of
from streamproof.core.manifest import LedgerEntry, Manifest
from streamproof.core.sides import Side
from streamproof.prove.oracle.arrived import BatchRead, plain
from streamproof.prove.oracle.operators.twin import Rank
from streamproof.prove.oracle.rows import WindowKey
from streamproof.prove.oracle.trace import Vector
from streamproof.prove.artifacts.row_files import rows_of

LEDGER = "_ledger.json"
Positions = Mapping[str, Mapping[int, int]]
_BATCH = re.compile(r"batch=(\d+)")
_TRACE = re.compile(rb'"_trace"\s*:\s*"([^"\\]+)"|^([\w.:/-]*e-\d+(?:[+]\d+)?)(?=[^\w+])')
"""Of a record of JSON by its key; in lines of CSV and text it stands in front."""


@dataclass(frozen=True)
class OutputLayout:
    """Where an output of a query lies, or what one of its several sinks has published.

    Parameters
    ----------
    name
        Of the output, or of one of several sinks: "exposure.postgres".
    kind
        "main", or which side output it is: "late", "unmatched:left".
    path
        The folder of its files, local.
    time_columns
        Columns that are instants, besides the window's; in JSON they are ISO texts.
    home
        Where its rows are staged, where that is another folder; local.
    """

    name: str
    kind: str
    path: Path
    time_columns: tuple[str, ...] = ()
    home: Path | None = None


@dataclass(frozen=True)
class QueryLayout:
    """Where a query's checkpoint and outputs lie; `state` is the file that the recovering process wrote about its state."""

    query: str
    checkpoint: Path
    outputs: tuple[OutputLayout, ...]
    state: Path | None = None


@dataclass(frozen=True, slots=True)
class OutputRow:
    """A published row: its batch (None where the output has no folder per batch), its file, and its columns, instants in micros."""

    batch: int | None
    file: str
    values: Mapping[str, Any]

    @property
    def trace(self) -> str | None:
        """The trace id: of its column, or of the original bytes of a rejected row."""
        found = self.values.get("_trace")
        if found is not None:
            return str(found)
        original = self.original
        matched = _TRACE.search(original) if original is not None else None
        return (matched[1] or matched[2]).decode("utf-8", "replace") if matched else None

    @property
    def original(self) -> bytes | None:
        """The original bytes of a rejected row."""
        text, encoded = self.values.get("original"), self.values.get("original_base64")
        if text is not None:
            return str(text).encode("utf-8", "surrogateescape")
        try:
            return base64.b64decode(encoded, validate=True) if encoded is not None else None
        except binascii.Error:
            return None


@dataclass(frozen=True)
class OutputHistory:
    """What is published of one output; `staged` are the directories of staged rows that are still there, with files in them."""

    name: str
    kind: str
    rows: tuple[OutputRow, ...] = ()
    ledgers: Mapping[int, LedgerEntry] = field(default_factory=dict)
    folders: frozenset[int] = frozenset()
    damaged: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()

    @property
    def side(self) -> Side:
        """Which side output it is; of a main output one that no query has."""
        return Side.called(self.kind)

    @cached_property
    def by_batch(self) -> Mapping[int | None, tuple[OutputRow, ...]]:
        grouped: dict[int | None, list[OutputRow]] = {}
        for row in self.rows:
            grouped.setdefault(row.batch, []).append(row)
        return {batch: tuple(rows) for batch, rows in grouped.items()}

    @property
    def numbered(self) -> bool:
        """Whether every row says which batch published it."""
        return None not in self.by_batch


@dataclass(frozen=True)
class OperatorState:
    """What Spark's state reader found of one operator.

    Parameters
    ----------
    holds
        What it holds: "window" or "key".
    groups
        Windows, by the values of the key and the end, with the records in them.
    keys
        Remembered keys with their expiry, microseconds UTC.
    newest
        Of those that rows are compared with, what is kept of the newest row; an order is as the file has it.
    columns
        The columns that the values of `keys` are of, where Spark has an order of its own; none where it is that of the call.
    """

    holds: str
    groups: Mapping[WindowKey, Vector] = field(default_factory=dict)
    keys: Mapping[tuple[Any, ...], int] = field(default_factory=dict)
    newest: Mapping[tuple[Any, ...], Rank] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def in_order(self, columns: Sequence[str]) -> "OperatorState":
        """The same with the values of keys in the order of these columns, where they are those of the keys."""
        if self.columns == tuple(columns) or sorted(self.columns) != sorted(columns):
            return self
        places = [self.columns.index(name) for name in columns]
        keys = {tuple(key[place] for place in places): expiry for key, expiry in self.keys.items()}
        newest = {tuple(key[place] for place in places): rank for key, rank in self.newest.items()}
        return replace(self, keys=keys, newest=newest, columns=tuple(columns))


@dataclass(frozen=True)
class StateContents:
    """What Spark's state reader found.

    Parameters
    ----------
    operators
        By their numbers: Spark counts from the last one of a query.
    repeated
        Keys that it found twice.
    untimed
        How many records are in windows without a time.
    unread
        Why the state could not be read; empty where it was.
    """

    operators: tuple[OperatorState, ...] = ()
    repeated: tuple[str, ...] = ()
    untimed: int = 0
    unread: str = ""


@dataclass(frozen=True)
class QueryHistory:
    """What one query has left behind; `outputs` by the name of the output or, of several, of the sink, and in a reading by the output's."""

    query: str
    batches: tuple[BatchRead, ...]
    outputs: Mapping[str, OutputHistory]
    manifests: Mapping[int, Manifest] = field(default_factory=dict)
    state: StateContents | None = None


def read_history(layout: QueryLayout) -> QueryHistory:
    """What the query has left behind.

    Raises
    ------
    TornCheckpoint
        If a log of the checkpoint is damaged.
    """
    outputs = {output.name: _output(output) for output in layout.outputs}
    manifests = dict(_manifests(layout.checkpoint / "_streamproof" / "manifests"))
    published = {batch for output in outputs.values() for batch in output.folders}
    return QueryHistory(
        query=layout.query,
        batches=_batches(layout.checkpoint, manifests, published),
        outputs=outputs,
        manifests=manifests,
        state=read_state(layout.state) if layout.state is not None and layout.state.exists() else None,
    )


def readings(left: QueryHistory) -> list[QueryHistory]:
    """What readers of the query's outputs find: as many readings as an output has sinks at most, each with one sink of every output.

    Every sink is in one of them, so that what holds for an output is held against each of its sinks.
    """
    sinks: dict[str, list[OutputHistory]] = {}
    for name, output in left.outputs.items():
        sinks.setdefault(output_of(name), []).append(output)
    most = max((len(found) for found in sinks.values()), default=1)
    return [
        replace(left, outputs={output: found[number % len(found)] for output, found in sinks.items()}) for number in range(most)
    ]


def read_state(path: Path) -> StateContents:
    """The contents of a `state.json`."""
    found = json.loads(path.read_text())
    operators: list[OperatorState] = []
    repeated: list[str] = []
    untimed = 0
    for operator in sorted(found.get("operators", ()), key=lambda operator: operator["operator"]):
        groups: dict[WindowKey, Vector] = {}
        keys: dict[tuple[Any, ...], int] = {}
        newest: dict[tuple[Any, ...], Rank] = {}
        columns: tuple[str, ...] = ()
        for row in operator["rows"]:
            if "key" in row:
                key = _key(row["key"])
                repeated += [f"key {key}"] if key in keys else []
                keys[key] = int(row["expires_us"])
                if "time_us" in row:
                    newest[key] = Rank(row.get("order"), int(row["time_us"]))
                columns = tuple(row.get("columns", ()))
            elif row["end_us"] is None:
                untimed += int(row["records"])
            else:
                window = (_key(row["by"]), int(row["end_us"]))
                repeated += [f"window {window}"] if window in groups else []
                groups[window] = Vector(int(row["records"]), int(row["hash"]))
        operators.append(OperatorState(operator["holds"], groups, keys, newest, columns))
    return StateContents(tuple(operators), tuple(repeated), untimed, found.get("unread", ""))


def _key(values: list[Any]) -> tuple[Any, ...]:
    return tuple(plain(value) for value in values)


def _manifests(folder: Path) -> Iterator[tuple[int, Manifest]]:
    """The whole manifests; a torn one says nothing, as the runtime must treat it too."""
    for number, path in _numbered(folder):
        try:
            yield number, Manifest.from_json(path.read_text())
        except (ValueError, UnicodeDecodeError):
            continue


def _numbered(folder: Path) -> list[tuple[int, Path]]:
    if not folder.is_dir():
        return []
    found = ((log_number(path.name), path) for path in folder.iterdir())
    return sorted((number, path) for number, path in found if number is not None)


def _batches(checkpoint: Path, manifests: Mapping[int, Manifest], published: set[int]) -> tuple[BatchRead, ...]:
    """The batches, from Spark's logs, and from the manifests where Spark has cleaned up its own."""
    texts = {number: manifest.offset_log for number, manifest in manifests.items()}
    texts |= {number: path.read_text() for number, path in _numbered(checkpoint / "offsets")}
    commits = dict(_numbered(checkpoint / "commits"))
    for number, path in commits.items():
        parse_commit(path.read_text(), where=f"commits/{number}")
    logs: dict[int, dict[str, str]] = {}
    for manifest in manifests.values():
        for name, written in manifest.source_logs.items():
            logs.setdefault(int(name), {}).update(written)
    for source, folder in _numbered(checkpoint / "sources"):
        logs.setdefault(source, {}).update({path.name: path.read_text() for _, path in _numbered(folder)})
    first = {source: text for source, written in logs.items() if is_initial_positions(text := written.get("0", ""))}
    of_files = {source: written for source, written in logs.items() if source not in first}
    entries = {source: source_entries(written, where=f"sources/{source}") for source, written in of_files.items()}
    offsets = {number: parse_offsets(text, where=f"offsets/{number}") for number, text in sorted(texts.items())}
    batches = []
    for number, log in offsets.items():
        before = offsets.get(number - 1)
        names: list[str] = []
        for source in range(len(log.sources)):
            ends = log.positions(source)
            if ends is None:
                start = before.log_offset(source) if before else -1
                names += [
                    path.rpartition("/")[2] for path in files_of_batch(entries.get(source, {}), start, log.log_offset(source))
                ]
            else:
                starts = (before.positions(source) if before else None) or parse_initial_positions(first[source])
                names += _records(starts, ends)
        effects, staged = (number in commits, number in published), manifests.get(number)
        run = staged.attempt.rpartition("-")[2] if staged is not None else ""
        batches.append(BatchRead(number, log.watermark_ms, log.timestamp_ms, tuple(names), *effects, run))
    return tuple(batches)


def _records(starts: Positions, ends: Positions) -> Iterator[str]:
    """The records of topics between two positions, each by its name."""
    for topic, partitions in ends.items():
        for partition, end in partitions.items():
            for offset in range(starts.get(topic, {}).get(partition, 0), end):
                yield f"{topic}-{partition}@{offset}"


def _output(layout: OutputLayout) -> OutputHistory:
    rows: list[OutputRow] = []
    damaged: list[str] = []
    ledgers: dict[int, LedgerEntry] = {}
    folders: set[int] = set()
    times = frozenset({"window_start", "window_end", *layout.time_columns})
    for path in sorted(layout.path.rglob("*")) if layout.path.is_dir() else ():
        inside = path.relative_to(layout.path)
        batch = next((int(found[1]) for part in inside.parts if (found := _BATCH.fullmatch(part))), None)
        if any(part.startswith((".", "_")) for part in inside.parts[:-1]):
            continue
        if batch is not None and path.is_dir():
            folders.add(batch)
        try:
            if path.name == LEDGER and batch is not None:
                ledgers[batch] = LedgerEntry.from_json(path.read_text())
            elif path.is_file() and not path.name.startswith((".", "_")):
                rows += [OutputRow(batch, str(inside), values) for values in rows_of(path, times=times)]
        except (ValueError, OSError, pa.ArrowException) as problem:
            damaged.append(f"{inside}: {problem}")
    staged = {name for folder in (layout.path, layout.home) if folder is not None for name in _staged(folder)}
    return OutputHistory(layout.name, layout.kind, tuple(rows), ledgers, frozenset(folders), tuple(damaged), tuple(sorted(staged)))


def _staged(path: Path) -> tuple[str, ...]:
    staging = path / "_staging"
    folders = sorted(staging.iterdir()) if staging.is_dir() else []
    return tuple(f"_staging/{folder.name}" for folder in folders if any(found.is_file() for found in folder.rglob("*")))


__all__ = [
    "OperatorState",
    "OutputHistory",
    "OutputLayout",
    "OutputRow",
    "QueryHistory",
    "QueryLayout",
    "StateContents",
    "read_history",
    "read_state",
    "readings",
]
