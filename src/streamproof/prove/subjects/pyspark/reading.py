"""What a run of a PySpark job has left on local disk: its batches, and the rows that readers of its outputs see. Reading only."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamproof.checkpoint.logs import SourceFile, files_of_batch, log_number, parse_offsets, source_entries
from streamproof.prove.artifacts.row_files import rows_of
from streamproof.prove.record.binding import CHECKPOINT, OUT
from streamproof.prove.subjects.pyspark.delta_log import LOG, NotReadHere, UnreadableTable, files_of
from streamproof.prove.subjects.pyspark.identity import Identity, why_left
from streamproof.prove.subjects.pyspark.identity import Left as Why
from streamproof.prove.subjects.pyspark.places import WRITTEN
from streamproof.prove.subjects.pyspark.told import QUERIES, ROWS_IN, Query

KAFKA_ENDING = ".kafka"
NAMELESS = "source "
"""What a source is called, with its number, that has read no file: its log does not say which input it reads."""
_AGAIN = "#"
Row = Mapping[str, Any]
Rows = Mapping[int | None, Sequence[Row]]
"""By batch; None where the output does not say which batch a row is of."""


@dataclass(frozen=True)
class Batch:
    """A micro-batch as Spark planned it: by source the files that it reads, in their order; and its watermark.

    A source is called like its input; a second one that reads the same input is `clicks#2`.
    """

    number: int
    files: Mapping[str, tuple[str, ...]]
    watermark_ms: int

    @property
    def has_data(self) -> bool:
        return any(self.files.values())


@dataclass(frozen=True)
class Output:
    """What readers of one output see.

    Parameters
    ----------
    query
        The query that it belongs to; None for what the job writes beside its queries.
    damaged
        Files that cannot be read, with the reason.
    unread
        Why its rows are not known although nothing is damaged; empty where they are known.
    """

    name: str
    query: Query | None
    rows: Rows
    damaged: tuple[str, ...] = ()
    unread: str = ""

    @property
    def count(self) -> int:
        return sum(map(len, self.rows.values()))


@dataclass(frozen=True)
class Abandoned:
    """A checkpoint that a query has left.

    Parameters
    ----------
    query
        Its name.
    why
        What the job has done.
    was, now
        The places that the job means, before and now.
    files
        By input the files of the batches that were committed there.
    """

    query: str
    why: Why
    was: str | None
    now: str | None
    files: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Left:
    """What a run has left: by query its batches, and its outputs.

    Parameters
    ----------
    abandoned
        The checkpoints that a query had at an earlier start and has no more.
    sharing
        Queries that share a checkpoint: two names, and the place.
    rows_in
        Of the first run by input how many rows the job's reader gives, and whether spoilt records are among the events.
    """

    batches: Mapping[str, tuple[Batch, ...]]
    outputs: tuple[Output, ...]
    queries: tuple[Query, ...]
    abandoned: tuple["Abandoned", ...] = ()
    sharing: tuple[tuple[str, str, str], ...] = ()
    rows_in: Mapping[str, tuple[int, bool]] = field(default_factory=dict)


def queries_of(folder: Path) -> tuple[Query, ...]:
    """The queries that the job started in a scenario."""
    file = folder / QUERIES
    return tuple(Query(**one) for one in json.loads(file.read_text())) if file.exists() else ()


def read_left(folder: Path) -> Left:
    """What a run has left.

    Raises
    ------
    TornCheckpoint
        If a log of a checkpoint is damaged.
    """
    queries = queries_of(folder)
    identity = Identity(folder)
    outputs = [
        _output(query, [folder / OUT / place for place in identity.outputs_of(query.name)])
        for query in queries
        if query.rows != "function"
    ]
    return Left(
        {query.name: tuple(_batches(folder / CHECKPOINT / (query.checkpoint or query.name))) for query in queries},
        (*outputs, *_written(folder / OUT / WRITTEN)),
        queries,
        tuple(left for query in queries for left in _abandoned(query.name, folder, identity)),
        tuple(identity.sharing()),
        _rows_in(folder / ROWS_IN),
    )


def _rows_in(file: Path) -> dict[str, tuple[int, bool]]:
    found = json.loads(file.read_text()) if file.is_file() else {}
    return {name: (rows, spoilt) for name, (rows, spoilt) in found.items()}


def _abandoned(query: str, folder: Path, identity: Identity) -> Iterator[Abandoned]:
    places = identity.checkpoints_of(query)
    for place in places[:-1]:
        checkpoint = folder / CHECKPOINT / place.folder
        files: dict[str, frozenset[str]] = {}
        for batch in _batches(checkpoint):
            if (checkpoint / "commits" / str(batch.number)).is_file():
                for source, its in batch.files.items():
                    files[input_of(source)] = files.get(input_of(source), frozenset()) | frozenset(its)
        yield Abandoned(query, why_left(place, places[-1]), place.asked, places[-1].asked, files)


def _batches(checkpoint: Path) -> Iterator[Batch]:
    folders = sorted((int(source.name), source) for source in (checkpoint / "sources").glob("*") if source.name.isdigit())
    entries = {
        number: source_entries({path.name: path.read_text() for path in source.iterdir() if log_number(path.name) is not None})
        for number, source in folders
    }
    names = _names(entries)
    numbers = sorted(int(path.name) for path in (checkpoint / "offsets").glob("*") if path.name.isdigit())
    before = dict.fromkeys(entries, -1)
    for number in numbers:
        path = checkpoint / "offsets" / str(number)
        log = parse_offsets(path.read_text(), where=f"offsets/{number}")
        files: dict[str, tuple[str, ...]] = {}
        for source, logs in entries.items():
            offset = log.log_offset(source)
            files[names[source]] = tuple(Path(file).name for file in files_of_batch(logs, before[source], offset))
            before[source] = max(before[source], offset)
        yield Batch(number, files, log.watermark_ms)


def input_of(source: str) -> str:
    """The input that a source of a batch reads."""
    return source.partition(_AGAIN)[0]


def _names(entries: Mapping[int, Mapping[int, Sequence[SourceFile]]]) -> dict[int, str]:
    """By number the name of each source: that of the folder that it reads."""
    found: dict[int, str] = {}
    for source, logs in entries.items():
        folder = next((Path(file.path).parent.name for files in logs.values() for file in files), f"{NAMELESS}{source}")
        name = folder.removesuffix(KAFKA_ENDING)
        again = sum(input_of(other) == name for other in found.values())
        found[source] = f"{name}{_AGAIN}{again + 1}" if again else name
    return found


def _output(query: Query, folders: Sequence[Path]) -> Output:
    """The rows at every place that the query has written to."""
    damaged: list[str] = []
    rows: dict[int | None, list[Row]] = {}
    for folder in folders:
        for batch, path in _kept(folder) if query.rows == "batches" else _logged(folder):
            rows.setdefault(batch, []).extend(_read(folder, path, damaged))
    return Output(query.name, query, rows, tuple(damaged))


def _kept(folder: Path) -> Iterator[tuple[int | None, Path]]:
    """The files of the proof's own sink."""
    for batch in sorted(folder.glob("batch=*")):
        yield from ((int(batch.name.partition("=")[2]), path) for path in sorted(batch.rglob("*")) if _is_data(path, batch))


def _logged(folder: Path) -> Iterator[tuple[int | None, Path]]:
    """The files that the log of Spark's file sink names; what a compact entry names is of no batch that it says."""
    seen: set[str] = set()
    logs = [path for path in (folder / "_spark_metadata").glob("*") if path.name.removesuffix(".compact").isdigit()]
    for log in sorted(logs, key=lambda path: int(path.name.removesuffix(".compact"))):
        for line in log.read_text().split("\n")[1:]:
            if not line.strip():
                continue
            written = str(json.loads(line)["path"])
            inside = written.rpartition(f"/{OUT}/{folder.name}/")[2]
            if inside not in seen:
                seen.add(inside)
                yield (None if log.name.endswith(".compact") else int(log.name)), folder / inside


def _written(folder: Path) -> Iterator[Output]:
    """What batch writers of the job have written: an output for each folder with files, and for each table of Delta Lake."""
    found: dict[str, list[Path]] = {}
    tables = [log.parent for log in sorted(folder.rglob(LOG))]
    for table in tables:
        yield _of_table(table, table.relative_to(folder).as_posix())
    for path in sorted(folder.rglob("*")):
        if _is_data(path, folder) and not any(table in path.parents for table in tables):
            inside = [part for part in path.relative_to(folder).parts[:-1] if "=" not in part]
            found.setdefault("/".join(inside), []).append(path)
    for name, files in found.items():
        damaged: list[str] = []
        rows = [row for path in files for row in _read(folder / name, path, damaged)]
        yield Output(name, None, {None: rows}, tuple(damaged))


def _of_table(table: Path, name: str) -> Output:
    """The rows of the newest version of a Delta Lake table."""
    damaged: list[str] = []
    rows: list[Row] = []
    unread = ""
    try:
        for file in files_of(table):
            rows += [{**row, **file.partition} for row in _read(table, table / file.path, damaged)]
    except UnreadableTable as problem:
        damaged.append(str(problem))
    except NotReadHere as problem:
        unread = str(problem)
    return Output(name, None, {None: rows}, tuple(damaged), unread)


def _is_data(path: Path, below: Path) -> bool:
    return path.is_file() and not any(part.startswith(("_", ".")) for part in path.relative_to(below).parts)


def _read(folder: Path, path: Path, damaged: list[str]) -> list[Row]:
    """The rows of a file, with the columns that its path says."""
    partition = dict(
        part.split("=", 1) for part in path.relative_to(folder).parts[:-1] if "=" in part and not part.startswith("batch=")
    )
    try:
        return [{**row, **partition} for row in _rows(path)]
    except FileNotFoundError:
        damaged.append(f"{path.relative_to(folder)} is gone")
    except (ValueError, OSError) as problem:
        damaged.append(f"{path.relative_to(folder)}: {problem}")
    return []


def _rows(path: Path) -> Sequence[Row]:
    name = path.name
    if name.endswith((".parquet", ".json")):
        return rows_of(path)
    if name.endswith(".orc"):
        from pyarrow import orc

        return list(orc.ORCFile(path).read().to_pylist())
    return [{"line": line} for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()]
