"""Values that come from the environment: `${env:NAME}` is replaced when the file is read, and never shown afterwards.

What came from the environment may be a password, so it is always treated as one: a `SecretText` is the value wherever it is used
and the text of the file wherever it is represented; `redact` takes such values out of any text that is about to be shown.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

_REFERENCE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_SHORTEST_REDACTED = 4

_known: dict[str, str] = {}


class SecretText(str):
    """A text that is its value in use, and `${env:NAME}` in `repr`."""

    shown: str

    def __new__(cls, value: str, shown: str) -> "SecretText":
        text = super().__new__(cls, value)
        text.shown = shown
        return text

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # str has one argument fewer
        return str.__str__(self), self.shown

    def __repr__(self) -> str:
        return repr(self.shown)


def shown(value: object) -> str:
    """The value as it may be shown: texts in quotes, secrets as the file writes them."""
    if isinstance(value, SecretText):
        return f'"{value.shown}" (its value is not shown)'
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return str(value)


def redact(text: str) -> str:
    """The text with every value that came from the environment replaced by its `${env:NAME}`.

    Also where JSON has escaped it. Values shorter than four characters are left: they would take ordinary words apart.
    """
    for value in sorted(_known, key=len, reverse=True):
        for written in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
            text = text.replace(written, _known[value])
    return text


class UnreadableReference(ValueError):
    """A `${...}` that cannot be replaced; `found` and `remedy` are the sentences that say so."""

    def __init__(self, found: str, remedy: str) -> None:
        self.found, self.remedy = found, remedy
        super().__init__(found)


def substitute(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with each `${env:NAME}` replaced; unchanged (and no secret) without one.

    Raises
    ------
    UnreadableReference
        If the variable is not set, or the reference is not of the form `${env:NAME}`.
    """
    values = os.environ if environment is None else environment

    def value(reference: re.Match[str]) -> str:
        named = _NAME.fullmatch(reference[1])
        if named is None:
            form = reference[1] if re.fullmatch(r"[A-Za-z_]\w*", reference[1]) else "NAME"
            raise UnreadableReference(f"holds {reference[0]}, which names no variable", f"Write ${{env:{form}}}.")
        name = named[1]
        if name not in values:
            raise UnreadableReference(
                f"needs the environment variable {name}, which is not set", f"Set it before you start: export {name}=..."
            )
        if len(values[name]) >= _SHORTEST_REDACTED:
            _known[values[name]] = reference[0]
        return values[name]

    replaced = _REFERENCE.sub(value, text)
    return SecretText(replaced, text) if _REFERENCE.search(text) else text


def strings(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of a nested table with the path of keys that leads to it; elements of lists carry their index."""
    for key, value in tree.items():
        yield from _strings(value, (*path, key))


def _strings(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        yield from strings(value, path)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _strings(element, (*path, str(index)))
