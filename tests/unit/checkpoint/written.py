"""Small checkpoints for tests: some that Spark has written, and some that a test writes itself."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamproof.checkpoint.logs import SourceFile, source_log_text

DATA = Path(__file__).parent / "data"
JOIN, WINDOWS, VARIABLES = DATA / "join_on_hdfs", DATA / "windows_on_rocksdb", DATA / "variables_on_rocksdb"
OURS = Path(__file__).parents[2] / "spark" / "data" / "checkpoint-0.1.0"
START_MS = 1_767_603_600_000


def copy_of(checkpoint: Path, folder: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(checkpoint, folder / checkpoint.name))


def with_two_operators(folder: Path) -> Path:
    """A copy of WINDOWS whose job has a second operator with state."""
    copy = copy_of(WINDOWS, folder)
    shutil.copytree(copy / "state" / "0", copy / "state" / "1")
    return copy


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file below a folder, hidden ones too, with its time and a digest: to see that nothing was changed. A folder is there with its time alone."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
    }


def kafka_checkpoint(
    folder: Path, ends: list[Mapping[str, Mapping[str, int]] | None], *, committed: int, settings: Mapping[str, str] | None = None
) -> Path:
    """A checkpoint without state whose one source is Kafka: an end for each batch, of which so many are committed."""
    _write(folder / "metadata", json.dumps({"id": "00000000-0000-0000-0000-000000000001"}))
    _write(folder / "sources" / "0" / "0", '\0v1\n{"trades":{"0":5,"1":0}}')
    for number, end in enumerate(ends):
        metadata: dict[str, Any] = {
            "batchWatermarkMs": max(0, START_MS + 10_000 * (number - 1)) if number else 0,
            "batchTimestampMs": START_MS + 1_000 * number,
            "conf": dict(settings or {"spark.sql.shuffle.partitions": "2"}),
        }
        _write(folder / "offsets" / str(number), f"v1\n{json.dumps(metadata)}\n{'-' if end is None else json.dumps(end)}")
        if number < committed:
            _write(folder / "commits" / str(number), f'v1\n{{"nextBatchWatermarkMs":{START_MS + 10_000 * number}}}')
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files_checkpoint(folder: Path, batches: int, *, interval: int = 10, kept: int = 6) -> Path:
    """A checkpoint without state whose one source is a folder: each batch has read one file, and Spark keeps logs as it does after its clean-up.

    Parameters
    ----------
    kept
        So many batches are in the logs of batches.
    """
    _write(folder / "metadata", json.dumps({"id": "00000000-0000-0000-0000-000000000001"}))
    compact = batches // interval * interval - 1
    for number in range(batches):
        if number >= batches - kept:
            metadata = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": START_MS + number, "conf": {}})
            _write(folder / "offsets" / str(number), f'v1\n{metadata}\n{{"logOffset":{number}}}')
            _write(folder / "commits" / str(number), 'v1\n{"nextBatchWatermarkMs":0}')
        if number > compact:
            _write(folder / "sources" / "0" / str(number), source_log_text([file_entry(number)]))
    if compact >= 0:
        _write(folder / "sources" / "0" / f"{compact}.compact", source_log_text(map(file_entry, range(compact + 1))))
    return folder


def file_entry(number: int) -> SourceFile:
    """The file that the batch of a number has read, of `files_checkpoint`."""
    return SourceFile(f"file:///data/{number}.json", START_MS + number, number)
