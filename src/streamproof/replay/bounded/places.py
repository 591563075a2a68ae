"""Where a bounded run writes: a folder of its own, never one that a job reads or publishes to."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from streamproof.core.clock import now_utc
from streamproof.core.paths import display
from streamproof.errors import ConfigurationError, OutputInUse
from streamproof.replay.diff.sides import is_remote, local

if TYPE_CHECKING:
    from streamproof.runtime.binding.bound import BoundJob

MARKER = "_bounded.json"
"""Says that a folder holds what a bounded run has written, and whether that run came to its end."""


class Files(Protocol):
    """What is asked of a file system; `streamproof._jvm.Storage` has it."""

    def list(self, path: str) -> dict[str, int]: ...

    def read(self, path: str) -> str | None: ...

    def replace_atomic(self, path: str, text: str) -> None: ...


def folder_of(bound: "BoundJob", to: str | None) -> str:
    """The folder that a bounded run writes to: the one that was asked for, or one beside the checkpoint.

    Raises
    ------
    ConfigurationError
        If it is, holds, or lies in a folder of the job: its checkpoint, what it reads, what it publishes.
    """
    config = bound.config
    checkpoint = config.resolve(config.checkpoint).rstrip("/")
    folder = (f"{checkpoint}-bounded" if to is None else local(to)).rstrip("/")
    own = {"its checkpoint": checkpoint}
    own |= {f"[sink.{name}]": place.path for name, place in bound.places.items() if place.service is None}
    own |= {
        f"[source.{name}]": config.resolve(path) for name, source in config.source.items() if (path := getattr(source, "path", ""))
    }
    for what, path in own.items():
        if _touches(folder, path):
            raise ConfigurationError(
                f"--to is {folder if is_remote(folder) else display(Path(folder))}, and {what} is {path}.",
                required="A bounded run writes to a folder of its own. It never writes into an output of the stream.",
                remedy="Name another folder, or leave --to out: the folder is then beside the checkpoint.",
            )
    return folder


def require_own(folder: str, job: str, storage: Files) -> None:
    """OutputInUse unless the folder is empty, or holds what an earlier bounded run of the same job has written."""
    names = storage.list(folder)
    if not names:
        return
    if MARKER in names:
        try:
            wrote = json.loads(storage.read(f"{folder}/{MARKER}") or "")["job"]
        except (ValueError, KeyError, TypeError):
            wrote = "unknown"
        if wrote == job:
            return
        said = f"holds a bounded run of {wrote}"
    else:
        said = f"holds {sorted(names)[0]}"
    raise OutputInUse(
        f"{folder} {said}.",
        required="A bounded run writes to a folder that is empty, or that holds an earlier bounded run of the same job.",
        remedy="Name another folder by --to.",
    )


def mark(folder: str, job: str, storage: Files, *, complete: bool) -> None:
    """Says whose folder it is, and whether its rows are whole."""
    text = json.dumps({"job": job, "at": now_utc().isoformat(timespec="seconds"), "complete": complete})
    storage.replace_atomic(f"{folder}/{MARKER}", text)


def _touches(one: str, other: str) -> bool:
    """Whether two folders are the same, or one lies in the other."""
    one, other = (path.removeprefix("file://").removeprefix("file:").rstrip("/") + "/" for path in (one, other))
    return one.startswith(other) or other.startswith(one)
