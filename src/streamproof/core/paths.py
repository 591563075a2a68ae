"""How a path is written for people."""

import re
from pathlib import Path
from urllib.parse import unquote

_OF_PATTERNS = re.compile(r"[{}\[\]*?\\]")


def display(path: Path) -> str:
    """The path as a person would type it here: relative to the working directory where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def path_of(uri: str) -> str:
    """A file's URI as people write it: local ones as a path."""
    return unquote(uri.removeprefix("file:")).replace("///", "/", 1) if uri.startswith("file:") else uri


def as_pattern(path: str) -> str:
    """The pattern that only this path matches, for Hadoop: a folder of the user's may have brackets or a star in its name.

    Spark's own option, `__globPaths__`, does not help: for each path that looks like a pattern it reads all files of the call once more.
    """
    return _OF_PATTERNS.sub(r"\\\g<0>", path)
