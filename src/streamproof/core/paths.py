"""How a path is written for people."""

from pathlib import Path
from urllib.parse import unquote


def display(path: Path) -> str:
    """The path as a person would type it here: relative to the working directory where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def path_of(uri: str) -> str:
    """A file's URI as people write it: local ones as a path."""
    return unquote(uri.removeprefix("file:")).replace("///", "/", 1) if uri.startswith("file:") else uri
