"""A job of a few rows in a folder of its own: written, fed file by file, run on the warm session, read back."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from streamproof._jvm import Storage
from streamproof.config import load
from streamproof.connectors import Sink
from streamproof.core.manifest import LedgerEntry, Manifest
from streamproof.errors import StreamproofError
from streamproof.prove.artifacts.row_files import rows_of
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.binding.sinks import sink_of
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.run import run_job
from streamproof.runtime.watching.result import RunResult

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
EVENT_TIME = 'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }'
SCHEMA = "id string, client string, v double, ts long"

HEADER = "from pyspark.sql import functions as F\n\nimport streamproof as sp\n\n\n"

KEPT = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""
"""Rows pass, negative ones are rejected."""

SUMS = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    sums = checked.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v"), n=F.count("*"))
    return sp.Outputs(sums=sums, late=sums.late, rejected=checked.rejected)
"""
"""Sums per client in windows of 30 seconds."""


def event(identity: str, at: float, v: float | None = 1.0, client: str = "a") -> dict[str, Any]:
    """A row of `SCHEMA`; `at` is in seconds after nine o'clock."""
    return {"id": identity, "client": client, "v": v, "ts": int((START + timedelta(seconds=at)).timestamp() * 1000)}


def instant(at: float) -> datetime:
    return START + timedelta(seconds=at)


@dataclass(frozen=True)
class Binding:
    """What streamproof.toml says: the source's keys, and the format of each bound output."""

    format: str = "json"
    schema: str | None = SCHEMA
    event_time: str = EVENT_TIME
    sinks: Mapping[str, str] = field(default_factory=lambda: {"kept": "parquet", "rejected": "json"})
    files_per_batch: int | None = 1
    base: str = ""
    checkpoint: str = "checkpoint"
    trigger: str = "available-now"
    spark: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Whole tables by their headers, such as "sink.kept"; [source.events] takes the place of the folder."""


WINDOWED = Binding(sinks={"sums": "parquet", "late": "json", "rejected": "json"})


@dataclass
class SmallJob:
    """A job folder; `run` runs it to the end of its input."""

    spark: SparkSession
    folder: Path
    text: str
    binding: Binding
    _files: int = 0

    def __post_init__(self) -> None:
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        self.write()

    def write(self) -> None:
        """Writes job.py and streamproof.toml."""
        bound = self.binding
        (self.folder / "job.py").write_text(HEADER + self.text)
        lines = [
            "[job]",
            'entry = "job.py:small"',
            f'checkpoint = "{bound.base}{bound.checkpoint}"',
            f'trigger = "{bound.trigger}"',
            "[source.events]",
        ]
        if "source.events" in bound.tables:
            lines += [f"{key} = {_toml(value)}" for key, value in bound.tables["source.events"].items()]
        else:
            lines += ['connector = "files"', 'path = "data"']
            lines += [f"files_per_batch = {bound.files_per_batch}"] if bound.files_per_batch else []
        if bound.tables.get("source.events", {}).get("connector") != "rate":
            lines += [f'format = "{bound.format}"']
        lines += [bound.event_time]
        lines += [f'schema = "{bound.schema}"'] if bound.schema else []
        for header, table in bound.tables.items():
            if header != "source.events":
                is_sink_of_files = table.get("connector") == "files" and not header.startswith(
                    "source."
                )  # sources are not recorded
                based = {**table, "path": f"{bound.base}{table['path']}"} if is_sink_of_files else table
                lines += [f"[{header}]", *(f"{key} = {_toml(value)}" for key, value in based.items())]
        for name, kind in bound.sinks.items():
            lines += [f"[sink.{name}]", 'connector = "files"', f'path = "{bound.base}out/{name}"', f'format = "{kind}"']
        lines += ["[spark]", *(f'"{key}" = "{value}"' for key, value in bound.spark.items())]
        (self.folder / "streamproof.toml").write_text("\n".join(lines) + "\n")

    def feed(self, rows: Iterable[Mapping[str, Any] | str]) -> Path:
        """One JSON file with these rows; a text is a line as it is. Files are read in the order of feeding."""
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        return self.feed_bytes("".join(f"{line}\n" for line in lines).encode())

    def feed_parquet(self, columns: Mapping[str, Any]) -> Path:
        path = self._next("parquet")
        pq.write_table(pa.table(dict(columns)), path)
        return self._dated(path)

    def feed_bytes(self, content: bytes, suffix: str = "json") -> Path:
        path = self._next(suffix)
        path.write_bytes(content)
        return self._dated(path)

    def _next(self, suffix: str) -> Path:
        self._files += 1
        return self.folder / "data" / f"{self._files:03d}.{suffix}"

    def _dated(self, path: Path) -> Path:
        os.utime(path, (1_700_000_000 + self._files,) * 2)
        return path

    def run(self, **options: Any) -> RunResult:
        return run_job(load(self.folder), spark=self.spark, **options)

    def stopped(self, kind: type[StreamproofError], **options: Any) -> StreamproofError:
        """Runs, expects an error of exactly this kind, and that it speaks to people."""
        with pytest.raises(StreamproofError) as raised:
            self.run(**options)
        error = raised.value
        assert type(error) is kind, f"{type(error).__name__}: {error}"
        assert_readable(error)
        return error

    def checkpoint(self, query: str = "kept") -> Path:
        return self.folder / self.binding.checkpoint / query

    def out(self, output: str) -> Path:
        """Where an output lies: where it is bound to, else beside the checkpoint."""
        return self.folder / (f"out/{output}" if output in self.binding.sinks else f"{self.binding.checkpoint}-{output}")

    def put_back_an_older_copy(self) -> None:
        """Runs three batches, the second without rows, then puts the checkpoint back to where it was after the first; what comes next is
        one batch."""
        copy = self.folder / "backup"
        self.feed([event("a", 0)])
        self.run()
        shutil.copytree(self.folder / self.binding.checkpoint, copy)
        for rows in ([], [event("b", 2)]):
            self.feed(rows)
            self.run()
        shutil.rmtree(self.folder / self.binding.checkpoint)
        copy.rename(self.folder / self.binding.checkpoint)
        self.binding = replace(self.binding, files_per_batch=None)
        self.write()

    def rows(self, output: str, where: Path | None = None, batch: str = "*") -> list[dict[str, Any]]:
        """The published rows, batch by batch, or those of one batch."""
        found: list[dict[str, Any]] = []
        for part in sorted((where or self.out(output)).glob(f"batch={batch}/*")):
            if part.name.startswith((".", "_")):
                continue
            if part.suffix == ".parquet":
                found += [_aware(row) for row in pq.ParquetFile(part).read().to_pylist()]
            elif part.suffix in (".avro", ".csv"):
                found += rows_of(part)
            else:
                found += [json.loads(line) for line in part.read_text().splitlines()]
        return found

    def ids(self, output: str = "kept") -> list[str]:
        return sorted(row["id"] for row in self.rows(output))

    def manifest(self, batch: int, query: str = "kept") -> Manifest:
        return Manifest.from_json((self.checkpoint(query) / f"_streamproof/manifests/{batch}").read_text())

    def change_manifest(self, batch: int, change: Callable[[dict[str, Any]], None], query: str = "kept") -> None:
        """Changes the manifest of a batch in place, and takes its checksum file away."""
        path = self.checkpoint(query) / f"_streamproof/manifests/{batch}"
        found = json.loads(path.read_text())
        change(found)
        path.write_text(json.dumps(found))
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)

    def ledger(self, batch: int, output: str = "kept") -> LedgerEntry:
        return LedgerEntry.from_json((self.out(output) / f"batch={batch:06d}/_ledger.json").read_text())

    def sink(self, output: str = "kept") -> Sink:
        """The sink of an output, as a run of its checkpoint has it."""
        incarnation = next(ManifestStore(Storage(self.spark), str(self.checkpoint())).newest_first()).incarnation
        bound = bind(load(self.folder))
        return sink_of(bound.config, bound.places[output], self.spark, Storage(self.spark), incarnation=incarnation)

    def staged(self, output: str = "kept") -> list[Path]:
        return [path for path in (self.out(output) / "_staging").glob("*/*") if not path.name.startswith(".")]

    def lose(self, *names: str, query: str = "kept") -> None:
        """Takes files of the checkpoint away, such as "commits/1", as a crash would have."""
        for name in names:
            path = self.checkpoint(query) / name
            path.unlink()
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)

    def tear(self, name: str, *, keep: int, checksum: bool = False, query: str = "kept") -> None:
        """Cuts a file of the checkpoint short, to so many bytes or (negative) by so many; its checksum file stays or goes."""
        path = self.checkpoint(query) / name
        path.write_bytes(path.read_bytes()[:keep])
        if not checksum:
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


@contextmanager
def recorded(job: SmallJob, name: str) -> Iterator[Any]:
    """The job's checkpoint and outputs under the recording filesystem; yields the faults to arm."""
    proof, plain = job.spark._jvm.io.streamproof.proof, job.binding
    proof.Recordings.open(name, str(job.folder / "recording"))
    job.binding = Binding(**{**vars(plain), "base": f"sp-record://{name}{job.folder}/"})
    job.write()
    try:
        yield proof.Faults
    finally:
        proof.Recordings.close(name)
        job.binding = plain
        job.write()


def dies(job: SmallJob, operation: str, path: str, side: str = "before", occurrence: int = 1) -> None:
    """Runs the job until its process dies at the step; the folder is then as the crash left it."""
    with recorded(job, "dies") as faults:
        faults.arm("dies", operation, path, side, occurrence, "die")
        with pytest.raises(StreamproofError):
            job.run()
        assert faults.fired("dies")


def run_apart(job: SmallJob, environment: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """The job by the command line, in a process that finds these variables."""
    command = [sys.executable, "-m", "streamproof.cli.main", "run", str(job.folder)]
    fast = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1"}
    return subprocess.run(
        command, env={**os.environ, **fast, **(environment or {})}, capture_output=True, text=True, check=False, timeout=120
    )


def _toml(value: Any) -> str:
    """A text, number, truth or list as TOML writes it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f'"{key}" = {_toml(inner)}' for key, inner in value.items()) + " }"
    return json.dumps(value)


def _aware(row: dict[str, Any]) -> dict[str, Any]:
    """Spark writes instants as INT96, which carries no zone: they are UTC."""
    return {
        name: value.to_pydatetime().replace(tzinfo=UTC) if isinstance(value, pd.Timestamp) else value for name, value in row.items()
    }


NOT_FOR_PEOPLE = ("Traceback", "Exception:", "org.apache", "java.", "py4j", "o0.", "\tat ")


def assert_readable(error: StreamproofError) -> None:
    """Where and what, then what to do: no trace, no class names of the engine room."""
    said = str(error)
    assert not any(word in said for word in NOT_FOR_PEOPLE), said
    assert error.required or error.remedy, said
