"""The schema of each state, as Spark keeps it beside the state (`_metadata/schema`, versions 1 to 3). No JVM is needed."""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DELAY = "spark.watermarkDelayMs"
_VERSIONS = ("v1", "v2", "v3")
_LONGEST = 50_000_000
"""A schema file is refused above so many bytes: it has at most some kilobytes."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a key or of a value: its name and Spark's name of its type; the delay of the watermark that it carries, milliseconds."""

    name: str
    type: str
    delay_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of one store, or of one variable in it: the columns of its keys and of its values."""

    name: str
    key: tuple[Column, ...]
    value: tuple[Column, ...]


class UnreadSchema(ValueError):
    """A schema file is cut short, or of a version that is not known."""


def read_schemas(path: Path, name: str) -> tuple[Schema, ...]:
    """The schemas in a file: one, or one for each variable.

    Parameters
    ----------
    name
        Of the store, for versions that do not name what they hold.

    Raises
    ------
    UnreadSchema
        If the file is cut short, or of a version that is not known.
    """
    data = path.read_bytes()
    if len(data) > _LONGEST:
        raise UnreadSchema(f"it has {len(data):,} bytes")
    reader = _Reader(data)
    version = reader.text()
    if version not in _VERSIONS:
        raise UnreadSchema(f'it begins with "{version[:20]}"; known are {", ".join(_VERSIONS)}')
    try:
        if version == "v3":
            return tuple(reader.variable() for _ in range(reader.number()))
        read = reader.text if version == "v1" else reader.chunks
        return (Schema(name, _columns(read()), _columns(read())),)
    except (ValueError, KeyError, TypeError) as problem:
        raise UnreadSchema(str(problem) or "it is cut short") from None


class _Reader:
    """Reads what Java's DataOutputStream has written."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self) -> int:
        return int(struct.unpack(">i", self._take(4))[0])

    def text(self) -> str:
        (length,) = struct.unpack(">H", self._take(2))
        return self._take(length).decode("utf-8", "replace")

    def chunks(self) -> str:
        return "".join(self.text() for _ in range(self.number()))

    def variable(self) -> Schema:
        name = self.text()
        self._take(2)  # the number of the key's schema
        key = _columns(self.chunks())
        self._take(2)
        value = _columns(self.chunks())
        self.chunks()  # how keys are encoded
        self.chunks()
        return Schema(name, key, value)

    def _take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._data):
            raise UnreadSchema("it is cut short")
        self._at += count
        return self._data[self._at - count : self._at]


def _columns(text: str) -> tuple[Column, ...]:
    fields = json.loads(text)["fields"]
    return tuple(Column(one["name"], type_name(one["type"]), one.get("metadata", {}).get(_DELAY)) for one in fields)


def type_name(type_: Any) -> str:
    """Spark's short name of a type, as of a table's column: "bigint", "struct<start:timestamp,end:timestamp>"."""
    if isinstance(type_, str):
        return {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}.get(type_, type_)
    found: Mapping[str, Any] = type_
    if found["type"] == "struct":
        fields = ",".join(f"{one['name']}:{type_name(one['type'])}" for one in found["fields"])
        return f"struct<{fields}>"
    if found["type"] == "array":
        return f"array<{type_name(found['elementType'])}>"
    if found["type"] == "map":
        return f"map<{type_name(found['keyType'])},{type_name(found['valueType'])}>"
    return str(found["type"])
