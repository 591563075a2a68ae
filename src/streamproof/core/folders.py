"""Which files of a folder a source reads: those in it, and those below folders that name a column."""

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PATTERN = frozenset("[]*?")
_OTHER_PATTERN = frozenset("{}\\")
"""What Hadoop's patterns have beside those of Python."""


@dataclass(frozen=True)
class Listing:
    """What a source finds at its path.

    Parameters
    ----------
    files
        How many files are read.
    left_out
        The subfolders whose files are not read, relative to the path.
    named
        The columns that folders name, as in "date=2026-03-02".
    """

    files: int
    left_out: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()


def listing(path: str) -> Listing | None:
    """The files at a path: a folder, a file, or a pattern where nothing has just this name; None where there is nothing, or a pattern with
    braces or backslashes, which is not looked at.

    It counts what Spark takes notice of: no name that begins with a dot or, unless it names a column, with an underscore.
    """
    if not os.path.lexists(path):
        if _OTHER_PATTERN.intersection(path) or not _PATTERN.intersection(path):
            return None
        found = [_below(Path(each)) for each in glob.glob(path)]  # noqa: PTH207 -- Path.glob takes no pattern from the root on
        folders = {folder for each in found for folder in each.left_out}
        return Listing(
            sum(each.files for each in found), tuple(sorted(folders)), frozenset[str]().union(*(each.named for each in found))
        )
    return _below(Path(path))


def left_out(path: str, folders: Sequence[str]) -> str:
    """What is said of subfolders whose files are not read."""
    return (
        f"files in {', '.join(f'{path}/{folder}' for folder in folders)} are not read: a subfolder is read where its name gives a column a value, "
        f'such as date=2026-03-02, or where path is a pattern, such as "{path}/*".'
    )


def files_below(folder: Path) -> tuple[int, int]:
    """How many files a source would read below a folder, and their bytes together; files that vanish meanwhile are left aside."""
    files = size = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if _is_visible(name)]
        for name in names:
            if _is_visible(name):
                try:
                    size += Path(place, name).stat().st_size
                except OSError:
                    continue
                files += 1
    return files, size


def _below(path: Path) -> Listing:
    if not path.is_dir():
        return Listing(1)
    files, left_out, named = 0, set[str](), set[str]()
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if _is_visible(name)]
        seen = sum(1 for name in names if _is_visible(name))
        below = Path(folder).relative_to(path)
        if all("=" in part[1:] for part in below.parts):
            files += seen
            named.update(part.partition("=")[0] for part in below.parts)
        elif seen:
            left_out.add(str(below))
    return Listing(files, tuple(sorted(left_out)), frozenset(named))


def _is_visible(name: str) -> bool:
    return not (name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_"))
