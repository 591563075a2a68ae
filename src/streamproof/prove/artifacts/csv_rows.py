"""Rows of CSV as the product writes them: what stands in quotes is a text, what does not is a number, a truth, a time or a null."""

import re
from collections.abc import Iterator
from typing import Any

_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)')
_WORDS = {"": None, "true": True, "false": False}


def csv_rows(content: bytes) -> Iterator[dict[str, Any]]:
    """The rows below the header.

    Raises
    ------
    ValueError
        At the first line that is no row of as many fields.
    """
    lines = _lines(content.decode("utf-8", "surrogateescape"))
    names = next(lines, [])
    for number, fields in enumerate(lines, start=2):
        if len(fields) != len(names):
            raise ValueError(f"row {number} has {len(fields)} fields, and the header {len(names)}")
        yield dict(zip(names, fields, strict=True))


def _lines(text: str) -> Iterator[list[Any]]:
    fields: list[Any] = []
    place = 0
    while place < len(text):
        found = _FIELD.match(text, place)
        if found is None:
            raise ValueError("a line is cut short, or has a quote that is not closed")
        fields.append(_value(found[2]) if found[1] is None else found[1].replace('""', '"'))
        place = found.end()
        if found[3] == "\n":
            yield fields
            fields = []
    if fields:
        raise ValueError("the last line is cut short")


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
