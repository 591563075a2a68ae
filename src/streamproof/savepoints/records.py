"""What lies in a store beside the files of backups: the list of a point, and the plan of a batch. Both name files by their SHA-256."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamproof.core.formats import Format
from streamproof.savepoints.store import pieces_of

_LIST = Format("the list of a backup")
_PLAN = Format("a plan beside backups")


@dataclass(frozen=True)
class Kept:
    """A file: what it has by its SHA-256, how many bytes, and when it was changed, nanoseconds since 1970."""

    sha256: str
    bytes: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> "Kept":
        """Of a file on this machine."""
        seen = path.stat()
        return cls(sha256_of(path), seen.st_size, seen.st_mtime_ns)


@dataclass(frozen=True)
class PointList:
    """What a point has.

    Parameters
    ----------
    checkpoint
        Whose it is, as `identity_of` says.
    files
        By path in the checkpoint.
    folders
        Those without a file in them.
    """

    checkpoint: str
    files: Mapping[str, Kept]
    folders: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path, checkpoint: str) -> "PointList":
        """Of a point that was made in a folder."""
        paths = sorted(folder.rglob("*"))
        files = {path.relative_to(folder).as_posix(): Kept.of(path) for path in paths if path.is_file()}
        empty = tuple(path.relative_to(folder).as_posix() for path in paths if path.is_dir() and not any(path.iterdir()))
        return cls(checkpoint, files, empty)

    @property
    def bytes(self) -> int:
        return sum(kept.bytes for kept in self.files.values())

    def to_json(self) -> str:
        return _LIST.text({"checkpoint": self.checkpoint, "files": _as_lists(self.files), "folders": list(self.folders)})

    @classmethod
    def from_json(cls, text: str, *, where: str) -> "PointList":
        """The list that a text holds; ValueError if it is torn, UnknownFormat if its format is not known (R30)."""
        return _LIST.read(text, where, lambda found: cls(found["checkpoint"], _of_lists(found["files"]), tuple(found["folders"])))


@dataclass(frozen=True)
class PlanRecord:
    """The manifest of a batch, word for word, and the files of the versions of tables that it names, by their path below the tables."""

    manifest: str
    files: Mapping[str, Kept] = field(default_factory=dict)

    def to_json(self) -> str:
        return _PLAN.text({"manifest": self.manifest, "files": _as_lists(self.files)})

    @classmethod
    def from_json(cls, text: str, *, where: str) -> "PlanRecord":
        """The plan that a text holds; ValueError if it is torn, UnknownFormat if its format is not known (R30)."""
        return _PLAN.read(text, where, lambda found: cls(found["manifest"], _of_lists(found["files"])))


def sha256_of(content: Path | bytes) -> str:
    """The SHA-256 of bytes, or of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    for piece in pieces_of(content):
        digest.update(piece)
    return digest.hexdigest()


def _as_lists(files: Mapping[str, Kept]) -> dict[str, list[Any]]:
    return {name: [kept.sha256, kept.bytes, kept.modified] for name, kept in files.items()}


def _of_lists(found: Mapping[str, list[Any]]) -> dict[str, Kept]:
    return {name: Kept(*each) for name, each in found.items()}
