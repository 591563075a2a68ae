"""How a path is written for people."""

from pathlib import Path


def display(path: Path) -> str:
    """The path as a person would type it here: relative to the working directory where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
