"""What is in a checkpoint, read from its files alone: no JVM is started, and nothing is changed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from streamproof.checkpoint.batches import FILES, TOPICS, Batch, Logs, ReadTo, read_logs
from streamproof.checkpoint.folder import COMMITS, METADATA, OFFSETS, checkpoint_at, list_names, read_text
from streamproof.checkpoint.own import AHEAD, FOLDER, Own, read_own
from streamproof.checkpoint.stores import Operator, Store, read_operators
from streamproof.core.clock import from_micros

PARTITIONS = "spark.sql.shuffle.partitions"
STORES = "spark.sql.streaming.stateStore.providerClass"
FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"


@dataclass(frozen=True)
class StoreSize:
    """One store of one partition at a version: the bytes that a start would read, the rows where they are counted, and what is missing.

    Parameters
    ----------
    on_disk
        The bytes of all versions that are kept.
    """

    store: Store
    bytes: int
    on_disk: int
    rows: int | None
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Inspection:
    """A checkpoint as it was found.

    Parameters
    ----------
    path
        The folder.
    query_id
        Spark's id of the query; "" where it is lost.
    own
        What a job of ours says of it; None where another program has written it.
    sizes
        By operator, each store of each partition after the newest batch that is committed.
    notes
        What a person should know, in sentences.
    """

    path: Path
    query_id: str
    logs: Logs
    batches: tuple[Batch, ...]
    operators: tuple[Operator, ...]
    own: Own | None
    sizes: Mapping[int, tuple[StoreSize, ...]]
    notes: tuple[str, ...]

    @property
    def newest(self) -> Batch | None:
        """The newest batch whose offset log can be read."""
        return self.batches[-1] if self.batches else None

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings that the checkpoint fixes, as of its newest batch."""
        return self.logs.planned[self.newest.number].settings if self.newest is not None else {}

    @property
    def state_format(self) -> int:
        """Spark's format of the state: 2 where the commit logs name ids of its files, else 1."""
        named = self.settings.get(FORMAT, "")
        if named.isdigit():
            return int(named)
        return 2 if any(commit.state_ids for commit in self.logs.committed.values()) else 1

    @cached_property
    def left_out(self) -> frozenset[int]:
        """Batches between others that are in neither log, of a job without state: Spark's asynchronous progress tracking writes only some.

        Such a job goes on from the newest offset log, and reads on from the one before it that is there (`before`).
        """
        if self.own is not None or self.operators or any(commit.state_ids for commit in self.logs.committed.values()):
            return frozenset()
        there = {int(name) for kind in (OFFSETS, COMMITS) for name in list_names(self.path / kind) if name.isdigit()}
        return frozenset(range(min(there, default=0), max(there, default=0))) - there

    def before(self, batch: int) -> int | None:
        """The batch where another one begins to read; None where its offset log is not there, and of the first batch."""
        number = batch - 1
        while number in self.left_out:
            number -= 1
        return number if number in self.logs.planned else None

    def after(self, batch: int) -> int:
        """The next batch that is in the logs, or would be."""
        number = batch + 1
        while number in self.left_out:
            number += 1
        return number

    def operator(self, number: int) -> Operator | None:
        """The operator with a number; None where there is none."""
        return next((one for one in self.operators if one.number == number), None)

    def as_dict(self) -> dict[str, Any]:
        """All of it, for `--json`; times are ISO 8601 in UTC."""
        own = self.own
        return {
            "path": str(self.path),
            "query_id": self.query_id,
            "state_format": self.state_format,
            "settings": dict(self.settings),
            "batches": [_batch(batch) for batch in self.batches],
            "sources": [_source(number, read, self.logs) for number, read in enumerate(self.newest.sources if self.newest else ())],
            "operators": [self._operator(operator) for operator in self.operators],
            "own": None if own is None else _own(own),
            "torn": {**self.logs.torn, **(own.torn if own is not None else {})},
            "notes": list(self.notes),
        }

    def _operator(self, operator: Operator) -> dict[str, Any]:
        return {
            "operator": operator.number,
            "name": operator.name,
            "partitions": operator.partitions,
            "variables": dict(operator.variables),
            "schemas": [
                {
                    "name": schema.name,
                    "key": {column.name: column.type for column in schema.key},
                    "value": [[column.name, column.type] for column in schema.value],
                }
                for schema in operator.schemas
            ],
            "stores": [
                {
                    "partition": size.store.partition,
                    "store": size.store.name,
                    "bytes": size.bytes,
                    "bytes_on_disk": size.on_disk,
                    "rows": size.rows,
                    "missing": list(size.missing),
                }
                for size in self.sizes[operator.number]
            ],
            "unread": list(operator.unread),
        }


def inspect_checkpoint(path: str | Path) -> Inspection:
    """Looks into a checkpoint of Spark 3.5 to 4.3, whoever wrote it. It starts no JVM and changes nothing.

    Parameters
    ----------
    path
        The folder of one query: of a stopped job, or a copy of a running one's.

    Raises
    ------
    ConfigurationError
        If there is no checkpoint, or several.
    DataError
        If a file may not be read.
    UnknownFormat
        If a log is of a version that is not known.
    """
    folder = checkpoint_at(path)
    before = _newest_names(folder)
    logs = read_logs(folder)
    operators = tuple(read_operators(folder))
    own = read_own(folder)
    newest = logs.newest_committed
    sizes = {operator.number: tuple(_sizes(operator, logs, newest)) for operator in operators}
    found = Inspection(folder, _query_id(folder), logs, tuple(logs.batches()), operators, own, sizes, ())
    notes = (*_notes(found), *([] if _newest_names(folder) == before else [WRITTEN_MEANWHILE]))
    return Inspection(folder, found.query_id, logs, found.batches, operators, own, sizes, notes)


WRITTEN_MEANWHILE = "A driver has written to this checkpoint while it was read, so parts of it are of different batches. Stop the job, or inspect a copy."


def written_since(found: Inspection) -> bool:
    """Whether a driver has planned or committed a batch since a checkpoint was looked into."""
    planned, committed = ({int(name) for name in list_names(found.path / kind) if name.isdigit()} for kind in (OFFSETS, COMMITS))
    return max(planned, default=-1) > max(found.logs.planned, default=-1) or bool(
        committed - {*found.logs.committed} - _torn_commits(found)
    )


def _torn_commits(found: Inspection) -> set[int]:
    return {
        int(name) for path in found.logs.torn for folder, _, name in [path.partition("/")] if folder == COMMITS and name.isdigit()
    }


def ids_of(logs: Logs, store: Store, stores: list[str]) -> dict[int, str]:
    """By version of the state, the id that the commit log names for a store; `stores` are those of its partition, in the order of their names."""
    found: dict[int, str] = {}
    place = stores.index(store.name)
    for number, commit in logs.committed.items():
        partitions = commit.state_ids.get(str(store.operator), ())
        named = partitions[store.partition] if store.partition < len(partitions) else ()
        if place < len(named) and named[place]:
            found[number + 1] = str(named[place])
    return found


def stores_of(operator: Operator, partition: int) -> list[str]:
    """The names of a partition's stores, in the order in which a commit log names their ids."""
    return sorted(store.name for store in operator.stores if store.partition == partition)


def _sizes(operator: Operator, logs: Logs, newest: int | None) -> Iterator[StoreSize]:
    for store in operator.stores:
        on_disk = sum(file.size for file in store.files) + sum(store.tables.values())
        if newest is None:
            yield StoreSize(store, 0, on_disk, None, ())
            continue
        needed = store.needed(newest + 1, ids_of(logs, store, stores_of(operator, store.partition)))
        yield StoreSize(store, store.bytes_of(needed), on_disk, store.rows_of(needed), needed.missing)


def _newest_names(folder: Path) -> tuple[list[str], list[str]]:
    return list_names(folder / OFFSETS)[-1:], list_names(folder / COMMITS)


def _query_id(folder: Path) -> str:
    try:
        return str(json.loads(read_text(folder / METADATA) or "")["id"])
    except (ValueError, KeyError, TypeError):
        return ""


def _notes(found: Inspection) -> Iterator[str]:
    logs, own = found.logs, found.own
    if logs.newest is None:
        yield "No batch is planned yet: the job was not started, or ended before its first batch."
    if not found.query_id:
        yield "The file metadata is gone or torn: Spark takes the query for another one, or does not start."
    torn = [*logs.torn, *(own.torn if own is not None else ())]
    missing = [size for sizes in found.sizes.values() for size in sizes if size.missing]
    if torn or missing:
        what = [f"{len(torn)} file{'s are' if len(torn) > 1 else ' is'} torn" if torn else ""]
        what.append(f"of {len(missing)} store{'s' if len(missing) > 1 else ''} state files are missing" if missing else "")
        yield f"{' and '.join(filter(None, what)).capitalize()}: streamproof inspect {found.path} --verify says which, and what it means."
    newest = found.newest
    if newest is not None and not newest.committed:
        yield f"Batch {newest.number} is planned and not committed: the job runs it now, or died in it. A start runs it again."
    ahead = sorted(int(name) for name in list_names(found.path / FOLDER / AHEAD) if name.isdigit())
    if ahead:
        yield f"The checkpoint was restored, and its batches {ahead[0]} to {ahead[-1]} are done again as they were planned at the next start."
    for operator in found.operators:
        yield from operator.unread


def _batch(batch: Batch) -> dict[str, Any]:
    return {
        "batch": batch.number,
        "planned": _iso(batch.planned_ms),
        "watermark": _iso(batch.watermark_ms) if batch.watermark_ms else None,
        "committed": batch.committed,
        "files": {str(source): count for source, count in batch.files.items()},
        "records": {str(source): count for source, count in batch.records.items()},
    }


def _source(number: int, read: ReadTo, logs: Logs) -> dict[str, Any]:
    found: dict[str, Any] = {"source": number, "kind": read.kind, "read_to": dict(read.positions)}
    if read.kind == FILES:
        found |= {"files": files_in(logs, number)}
    elif read.kind != TOPICS:
        found |= {"text": read.text}
    return found


def files_in(logs: Logs, source: int) -> int:
    """How many files a source's log names."""
    return sum(len(files) for files in logs.files.get(logs.folder(source), {}).values())


def _own(own: Own) -> dict[str, Any]:
    identity, newest = own.identity, own.newest
    return {
        "job": identity.job if identity else newest.job if newest else None,
        "query": identity.query if identity else newest.query if newest else None,
        "incarnation": identity.incarnation if identity else newest.incarnation if newest else None,
        "created": identity.created if identity else None,
        "version": newest.version if newest else identity.version if identity else None,
        "manifests": sorted(own.manifests),
        "made_by": dict(newest.made_by) if newest else {},
        "counts": dict(newest.counts) if newest else {},
        "outputs": [
            {
                "output": one.output,
                "connector": one.connector,
                "place": one.place,
                "waiting": None if one.batches is None else list(one.batches),
                "published": one.published,
            }
            for one in own.waiting
        ],
    }


def _iso(milliseconds: int) -> str | None:
    try:
        return from_micros(milliseconds * 1_000).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
