"""Looking into folders: on this machine without a JVM, elsewhere through Hadoop's file systems."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class Folders(Protocol):
    """What is asked of a file system; `streamproof._jvm.Storage` has it too."""

    def list(self, path: str) -> Mapping[str, int]:
        """Names in a folder with their bytes, -1 for a folder; empty where there is no such folder."""
        ...

    def read(self, path: str) -> str | None:
        """The text of a small file; None where there is none."""
        ...


class LocalFolders:
    """The file system of this machine."""

    def list(self, path: str) -> Mapping[str, int]:
        folder = Path(path)
        if not folder.is_dir():
            return {}
        return {found.name: -1 if found.is_dir() else found.stat().st_size for found in sorted(folder.iterdir())}

    def read(self, path: str) -> str | None:
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None


def shown_names(names: Mapping[str, int]) -> dict[str, int]:
    """Without what Spark does not read either: names that begin with a dot or an underscore."""
    return {name: size for name, size in names.items() if not name.startswith((".", "_"))}
