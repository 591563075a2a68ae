"""The journal of the recording filesystem: every durable operation of a run, in the order in which the disk saw them."""

import json
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

from streamproof.errors import StreamproofError

JOURNAL = "journal.jsonl"
BLOBS = "blobs"


class Operation(StrEnum):
    """What happened to a path."""

    CREATE = "create"
    APPEND = "append"
    TRUNCATE = "truncate"
    CLOSE = "close"
    RENAME = "rename"
    DELETE = "delete"


@dataclass(frozen=True)
class Task:
    """The Spark task that did it: stage id, partition, and task attempt id (unique in the application)."""

    stage: int
    partition: int
    attempt: int


@dataclass(frozen=True)
class Entry:
    """One operation; paths are relative to the scenario's folder, with forward slashes.

    `size` (bytes), `sha256` and `modified_ms` tell the content after a close, a truncate, or a rename of a file. `batch` is
    the batch id that Spark had set for the thread: right in tasks, stale or inherited elsewhere. `task` is None outside tasks,
    also in the pool threads that write a task's state.
    """

    seq: int
    operation: Operation
    path: str
    thread: str
    destination: str | None = None
    directory: bool = False
    size: int | None = None
    sha256: str | None = None
    modified_ms: int | None = None
    synced: bool = False
    batch: int | None = None
    task: Task | None = None

    @property
    def target(self) -> str:
        """The path that the operation leaves its mark on: of a rename, the destination."""
        return self.path if self.destination is None else self.destination


@dataclass(frozen=True)
class Journal:
    """What one recording holds: its entries in order, its blobs, and the paths it saw outside the scenario's folder."""

    entries: tuple[Entry, ...]
    blobs: Path
    outside: tuple[str, ...] = ()


def read(folder: Path, root: str | Path) -> Journal:
    """The journal below `folder` of a run whose scenario lies in `root` (absolute).

    A last line cut short by a kill is left out: its operation was never answered.

    Raises
    ------
    StreamproofError
        If a line before the last is broken, or lines are missing.
    """
    base = PurePosixPath(str(root))
    entries: list[Entry] = []
    outside: list[str] = []
    text = (folder / JOURNAL).read_text(encoding="utf-8")
    whole, _, _torn = text.rpartition("\n")
    for number, line in enumerate(whole.splitlines()):
        try:
            found = json.loads(line)
            if found["seq"] != number:
                raise ValueError(f"it says seq {found['seq']}")
            foreign = [found[key] for key in ("path", "to") if key in found and not PurePosixPath(found[key]).is_relative_to(base)]
            if foreign:
                outside.extend(foreign)
                continue
            entries.append(_entry(found, base))
        except (KeyError, TypeError, ValueError) as problem:
            raise StreamproofError(
                f"{folder / JOURNAL}, line {number + 1} is not what the recording filesystem writes: {problem}",
                remedy="Record again; nothing else may write into a recording's folder.",
            ) from problem
    return Journal(entries=tuple(entries), blobs=folder / BLOBS, outside=tuple(dict.fromkeys(outside)))


def attempts(journal: Journal, batch: int) -> int:
    """How many attempts of one task have written something in a batch, at most."""
    found: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for entry in journal.entries:
        if entry.task is not None and entry.batch == batch:
            found[entry.task.stage, entry.task.partition].add(entry.task.attempt)
    return max((len(tried) for tried in found.values()), default=0)


def _entry(found: dict[str, Any], base: PurePosixPath) -> Entry:
    return Entry(
        seq=found["seq"],
        operation=Operation(found["op"]),
        path=_relative(found["path"], base),
        thread=found["thread"],
        destination=_relative(found["to"], base) if "to" in found else None,
        directory=found.get("directory", False),
        size=found.get("size"),
        sha256=found.get("sha256"),
        modified_ms=found.get("modified_ms"),
        synced=found.get("synced", False),
        batch=found.get("batch"),
        task=Task(found["stage"], found["partition"], found["attempt"]) if "stage" in found else None,
    )


def _relative(path: str, base: PurePosixPath) -> str:
    return str(PurePosixPath(path).relative_to(base))
