"""The pages of the documentation that reports name: where they lie in this installation."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / "_docs", _PACKAGE.parents[1] / "docs")
"""Installed, and in a checkout."""


def path_of(page: str) -> str:
    """The path of a page that is named "docs/...", as a person would type it here; its name where this installation has it not.

    A part of it that is named behind a "#" stays named.
    """
    for folder in _PLACES if page.startswith("docs/") else ():
        name, mark, part = page.removeprefix("docs/").partition("#")
        path = folder / name
        if path.is_file():
            return f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}{mark}{part}"
    return page
