"""A checkpoint as a folder on this machine: whether it is one, and its small files. Nothing here writes."""

import re
from collections.abc import Iterator
from pathlib import Path

from streamproof.errors import ConfigurationError, DataError

OFFSETS, COMMITS, SOURCES, STATE, METADATA = "offsets", "commits", "sources", "state", "metadata"
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_DEEP = 4
_SHOWN = 5
_WHAT_IT_IS = "A checkpoint of Spark has the folders offsets and commits, and the file metadata."


def checkpoint_at(path: str | Path) -> Path:
    """The checkpoint of one query that a path names; a folder with one such below it stands for that.

    Raises
    ------
    ConfigurationError
        If there is none, or several, or the path names another store than the disk of this machine.
    """
    text = str(path).removeprefix("file://").removeprefix("file:")
    if _REMOTE.match(text):
        raise ConfigurationError(
            f"{text} is in a store, and a checkpoint is inspected as a folder of this machine.",
            required="Nothing was read there.",
            remedy=f"Copy it first, as with hadoop fs -get {text}, and inspect the copy.",
        )
    folder = Path(text)
    if not folder.exists():
        raise ConfigurationError(f"There is no {folder}.", required=_WHAT_IT_IS, remedy=_above(folder))
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is a file.", required=_WHAT_IT_IS, remedy="Name the folder that it lies in.")
    if is_checkpoint(folder):
        return folder
    names = list_names(folder)
    if not names:
        raise ConfigurationError(
            f"{folder} is empty.",
            required=_WHAT_IT_IS,
            remedy="A job makes these when it starts: name the checkpoint that it was started with.",
        )
    below = sorted(_below(folder, _DEEP))
    if len(below) == 1:
        return below[0]
    if below:
        few = ", ".join(str(one) for one in below[:_SHOWN])
        more = f" and {len(below) - _SHOWN} more" if len(below) > _SHOWN else ""
        raise ConfigurationError(f"{folder} holds several checkpoints: {few}{more}.", remedy="Name one of them.")
    few = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    raise ConfigurationError(
        f"{folder} is no checkpoint: it has {few}{more}.",
        required=_WHAT_IT_IS,
        remedy="Name the folder that the query was started with as its checkpointLocation.",
    )


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder has what every checkpoint of Spark has, as far as something may be lost of it."""
    return (folder / OFFSETS).is_dir() or ((folder / COMMITS).is_dir() and (folder / METADATA).is_file())


def list_names(folder: Path) -> list[str]:
    """The names in a folder, without the hidden ones; none where it is not there.

    Raises
    ------
    DataError
        If it may not be read.
    """
    try:
        return sorted(found.name for found in folder.iterdir() if not found.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise _unreadable(folder, problem) from None


def read_text(path: Path) -> str | None:
    """The text of a small file; None where it is not there.

    Raises
    ------
    DataError
        If it may not be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise _unreadable(path, problem) from None


def _unreadable(path: Path, problem: OSError) -> DataError:
    return DataError(
        f"{path} cannot be read: {problem.strerror}.",
        required="Every file of a checkpoint that is inspected must be readable.",
        remedy="Give this user the right to read it, or inspect a copy.",
    )


def _below(folder: Path, deep: int) -> Iterator[Path]:
    for name in list_names(folder) if deep else ():
        inner = folder / name
        if not inner.is_dir() or inner.is_symlink():
            continue
        if is_checkpoint(inner):
            yield inner
        else:
            yield from _below(inner, deep - 1)


def _above(folder: Path) -> str:
    there = next((parent for parent in folder.parents if parent.is_dir()), None)
    found = [str(one) for one in sorted(_below(there, 2))[:_SHOWN]] if there is not None else []
    return f"Below {there} there are: {', '.join(found)}." if found else ""
