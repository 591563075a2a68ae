"""Dataclasses as plain values: dictionaries, lists, texts and numbers, ready for JSON."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any


def plain(value: Any) -> Any:
    """The value for JSON: an instant as ISO 8601, a dataclass by its fields, or by its own `as_dict` where it has one."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value):
        return plain_fields(value)
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def plain_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by their names, in their order."""
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
