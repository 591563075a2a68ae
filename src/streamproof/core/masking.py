"""What may be shown of texts and of rows: no password, and of a value its type and its length."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

_WORDS = r"password|passwd|passphrase|pwd|secret|token|credential|(?:api|access|account)[._-]?key|accountkey"
_SECRETS = (
    (
        re.compile(r"""(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*://[^\s:/@]*:)[^\s@]+(?:@[^\s/@"']+)*(?=@)""", re.IGNORECASE),
        r"\1***",
    ),
    (
        re.compile(
            rf"""(?<![\w.-])([\w.-]*(?:{_WORDS})[\w.-]*["']?\s*[=:]\s*)(?!\*\*\*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;&"']+)""",
            re.IGNORECASE,
        ),
        r"\1***",
    ),
    (re.compile(r"([?&](?:sig|signature)=)[^\s&\"']+", re.IGNORECASE), r"\1***"),
    (
        re.compile(r"""(authorization["']?\s*[=:]\s*["']?(?:[\w-]+\s+)?+)(?!\*\*\*)[^\s"',;]{6,}""", re.IGNORECASE),
        r"\1***",
    ),
    (re.compile(r"\b([Bb]asic\s+)(?=\w\S*[A-Z0-9=])[\w+/-]{6,}=*"), r"\1***"),
    (re.compile(r"\b(Bearer\s+)[\w.~+/-]{8,}=*", re.IGNORECASE), r"\1***"),
)
_QUOTED = re.compile(r"(?<!\w)(?<!named )'((?:[^'\n]|'(?=\w))*)(?:'(?!\w)|(?=\n|\Z))")
"""Up to the last quote that is no apostrophe; a value of several lines is cut off with the first of them."""
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_MOST_FIELDS = 30
_MOST_CHARACTERS = 600


def masked(text: str) -> str:
    """The text with passwords in addresses and in `password=...` replaced by ***; the last line of defence, not the first."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def unquoted(text: str) -> str:
    """An error's text with what stands in single quotes, as Spark and Java quote values, and each address of a mail by its shape alone."""
    text = _QUOTED.sub(lambda found: f"({shape_of(found[1])})", text)
    return _MAIL.sub(lambda found: f"({shape_of(found[0])})", text)


def shape_of(value: Any) -> str:
    """What a value is, never which: "text of 7 characters", "a number", "a list of 3", "null"."""
    for kinds, said in _SHAPES:
        if isinstance(value, kinds):
            return said(value)
    return f"a {type(value).__name__}"


def shapes_of(record: Mapping[str, Any]) -> dict[str, str]:
    """By column what a record has there, as `shape_of` says it; of the first thirty columns."""
    return {str(name): shape_of(value) for name, value in list(record.items())[:_MOST_FIELDS]}


def shortened(text: str) -> str:
    """A text of any length as a log takes it."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}\u2026"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


_SHAPES: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (type(None), lambda _: "null"),
    (bool, lambda _: "true or false"),
    (str, lambda value: f"text of {_counted(len(value), 'character')}"),
    ((bytes, bytearray), lambda value: f"{_counted(len(value), 'byte')}"),
    (datetime, lambda _: "an instant"),
    (date, lambda _: "a date"),
    ((int, float, complex), lambda _: "a number"),
    (Mapping, lambda value: f"a record of {_counted(len(value), 'field')}"),
    ((list, tuple, set, frozenset), lambda value: f"a list of {len(value):,}"),
)
"""By type, the first that fits: a truth value is a number to Python, an instant a date."""
