"""The disk of a scenario's folder as a value: which file holds what, after any selection of a journal's entries."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from streamproof.prove.record.journal import Entry, Operation
from streamproof.prove.record.paths import temporary

EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class File:
    """A file's content by hash, bytes, modification time; `written` and `named` are the entries that gave it content and place.

    `length` below `size` means that only so many bytes of the content are on the disk (machine death).
    """

    sha256: str
    size: int
    modified_ms: int | None
    written: int
    named: int
    synced: bool = False
    length: int | None = None


class Tree:
    """Files by path; changed by applying entries, copied by `snapshot`. Directories are not kept: an empty one is none."""

    def __init__(self, files: Mapping[str, File] | None = None) -> None:
        self.files: dict[str, File] = dict(files or {})

    @classmethod
    def after(cls, entries: Iterable[Entry]) -> "Tree":
        tree = cls()
        for entry in entries:
            tree.apply(entry)
        return tree

    def snapshot(self) -> dict[str, File]:
        return dict(self.files)

    def below(self, path: str) -> list[str]:
        """The file `path`, or the files below the directory `path`, sorted."""
        return sorted(name for name in self.files if name == path or name.startswith(path + "/"))

    def apply(self, entry: Entry) -> None:
        """Does to the tree what the operation did to the disk. It skips an operation whose source this cut does not have."""
        match entry.operation:
            case Operation.CREATE:
                self.files[entry.path] = File(EMPTY, 0, None, entry.seq, entry.seq)
            case Operation.APPEND:
                self.files.setdefault(entry.path, File(EMPTY, 0, None, entry.seq, entry.seq))
            case Operation.CLOSE | Operation.TRUNCATE:
                if entry.sha256 is not None:
                    self.files[entry.path] = self._content(entry, entry.seq)
            case Operation.DELETE:
                for path in self.below(entry.path):
                    del self.files[path]
            case Operation.RENAME:
                self._rename(entry)

    def _rename(self, entry: Entry) -> None:
        moved = [(path, self.files.pop(path)) for path in self.below(entry.path)]
        if entry.directory:
            for path, file in moved:
                self.files[entry.target + path[len(entry.path) :]] = replace(file, named=entry.seq)
            return
        written = moved[0][1].written if moved else entry.seq
        synced = bool(moved) and moved[0][1].synced
        self.files[entry.target] = replace(self._content(entry, written), synced=synced)

    @staticmethod
    def _content(entry: Entry, written: int) -> File:
        assert entry.sha256 is not None
        assert entry.size is not None
        return File(entry.sha256, entry.size, entry.modified_ms, written, entry.seq, entry.synced)


def digest(files: Mapping[str, File]) -> str:
    """SHA-256 over paths and contents; temporary files do not count: disks that differ only in them are proved once."""
    lines = sorted(
        f"{path}\0{file.sha256}\0{'' if file.length is None else file.length}"
        for path, file in files.items()
        if not temporary(path)
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
