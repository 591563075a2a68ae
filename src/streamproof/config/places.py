"""Paths of a configuration: relative to its folder, or URIs of a store."""

import re
from pathlib import Path

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/")


def resolved(path: str, root: Path) -> str:
    """The path, made absolute against a folder; a URI with a scheme is left alone."""
    return path if _SCHEME.match(path) else str((root / path).absolute())


def is_remote(path: str) -> bool:
    """Whether the path is a URI of a store that is not this machine's file system."""
    return bool(_SCHEME.match(path)) and not path.startswith("file:")
