"""Libraries that an extra installs, imported when a connector needs them."""

from importlib import import_module
from typing import Any

from streamproof.errors import MissingExtra


def library(module: str, extra: str, what: str) -> Any:
    """The module; MissingExtra where it is not installed, with the command that installs it."""
    try:
        return import_module(module)
    except ImportError as problem:
        raise MissingExtra(
            f"{what} needs the library {module.partition('.')[0]}, which is not installed.",
            remedy=f"Run: pip install 'streamproof[{extra}]'",
        ) from problem
