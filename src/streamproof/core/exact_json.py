"""JSON in which a decimal is a number with all of its digits: the standard library would make a double of it, or a text."""

import json
from decimal import Decimal
from typing import Any


def json_text(value: Any, *, indent: int = 0, ascii_only: bool = True) -> str:
    """Plain values and decimals as JSON.

    Parameters
    ----------
    indent
        Each value on a line of its own, with so many spaces for each level; 0 for all in one line.
    ascii_only
        Whether other characters are escaped.
    """
    return _text(value, " " * indent, "\n" if indent else "", ascii_only=ascii_only)


def _text(value: Any, indent: str, begins: str, *, ascii_only: bool) -> str:
    inner = begins + indent
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(str(name), ensure_ascii=ascii_only)}: {_text(one, indent, inner, ascii_only=ascii_only)}"
            for name, one in value.items()
        ]
        return _enclosed("{", parts, "}", begins, inner)
    if isinstance(value, list | tuple):
        return _enclosed("[", [_text(one, indent, inner, ascii_only=ascii_only) for one in value], "]", begins, inner)
    return json.dumps(value, ensure_ascii=ascii_only)


def _enclosed(opens: str, parts: list[str], closes: str, begins: str, inner: str) -> str:
    if not parts:
        return opens + closes
    return f"{opens}{inner}{(',' + inner if inner else ', ').join(parts)}{begins}{closes}"
