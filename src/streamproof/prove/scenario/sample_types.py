"""The types of a sample's columns: inferred from plain values as Spark's `inferSchema` does, and written as Spark's DDL.

Where Spark leaves a choice, its defaults count: a time in JSON stays a text (`inferTimestamp` is false), a whole number is a long, one that no long
holds is a decimal, what fits nowhere is a string. In CSV a date or a timestamp is one where every value of the column is. Columns keep the order
of the file, where Spark sorts those of JSON by name. Everything may be null.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONG = 2**63
_MOST_DIGITS = 38
_LONG_DIGITS = 20
"""What Spark gives a long that is widened to a decimal."""

_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?")
"""What Java reads as a double, its suffixes included; it takes spaces around one too."""
_NO_NUMBERS: Mapping[str, float] = {
    "NaN": float("nan"),
    "Inf": float("inf"),
    "-Inf": float("-inf"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?")


@dataclass(frozen=True)
class DecimalOf:
    """decimal(precision, scale)."""

    precision: int
    scale: int


@dataclass(frozen=True)
class ArrayOf:
    """array<element>."""

    element: "ColumnType"


@dataclass(frozen=True)
class StructOf:
    """struct<name: type, ...>, the fields in the order in which they were first seen."""

    fields: tuple[tuple[str, "ColumnType"], ...]


ColumnType = str | DecimalOf | ArrayOf | StructOf
"""A text is a type of Spark's by its name; "null" is that of a column without any value."""


def quoted(name: str) -> str:
    """The name of a column as DDL takes it."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


def ddl_of(columns: Mapping[str, str]) -> str:
    """The columns with their types as Spark's DDL writes them: "id string, amount double"."""
    return ", ".join(f"{quoted(name)} {type_}" for name, type_ in columns.items())


def struct_ddl(fields: Mapping[str, str]) -> str:
    """A nested record: "struct<city: string>"."""
    return f"struct<{', '.join(f'{quoted(name)}: {type_}' for name, type_ in fields.items())}>"


def written(type_: ColumnType) -> str:
    """The type in DDL."""
    match type_:
        case DecimalOf():
            return f"decimal({type_.precision},{type_.scale})"
        case ArrayOf():
            return f"array<{written(type_.element)}>"
        case StructOf():
            return struct_ddl({name: written(inner) for name, inner in type_.fields})
        case "null":
            return "string"
        case _:
            return type_


def merged(one: ColumnType, other: ColumnType) -> ColumnType:
    """The type that holds the values of both."""
    if one == other or other == "null":
        return one
    if one == "null":
        return other
    match one, other:
        case StructOf(), StructOf():
            fields = dict(one.fields)
            for name, type_ in other.fields:
                fields[name] = merged(fields[name], type_) if name in fields else type_
            return StructOf(tuple(fields.items()))
        case ArrayOf(), ArrayOf():
            return ArrayOf(merged(one.element, other.element))
        case (("long" | "double" | DecimalOf()), ("long" | "double" | DecimalOf())):
            return "double" if "double" in (one, other) else _wider(_as_decimal(one), _as_decimal(other))
        case (("date" | "timestamp"), ("date" | "timestamp")):
            return "timestamp"
        case _:
            return "string"


def _as_decimal(type_: ColumnType) -> DecimalOf:
    return type_ if isinstance(type_, DecimalOf) else DecimalOf(_LONG_DIGITS, 0)


def _wider(one: DecimalOf, other: DecimalOf) -> ColumnType:
    scale = max(one.scale, other.scale)
    precision = max(one.precision - one.scale, other.precision - other.scale) + scale
    return DecimalOf(precision, scale) if precision <= _MOST_DIGITS else "double"


def json_type(value: Any) -> ColumnType:
    """The type of a value that was read from JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return _whole_type(value)
        case float():
            return "double"
        case str():
            return "string"
        case list():
            element: ColumnType = "null"
            for each in value:
                element = merged(element, json_type(each))
            return ArrayOf(element)
        case _:
            return StructOf(tuple((name, json_type(inner)) for name, inner in value.items()))


def _whole_type(value: int) -> ColumnType:
    if -_LONG <= value < _LONG:
        return "long"
    digits = len(str(abs(value)))
    return DecimalOf(digits, 0) if digits <= _MOST_DIGITS else "double"


def settled(type_: ColumnType) -> ColumnType | None:
    """The type as a column has it: one without a value is a string; None for a record without fields, which no column can hold."""
    match type_:
        case "null":
            return "string"
        case ArrayOf():
            element = settled(type_.element)
            return None if element is None else ArrayOf(element)
        case StructOf():
            fields = tuple((name, inner) for name, each in type_.fields if name and (inner := settled(each)) is not None)
            return StructOf(fields) if fields else None
        case _:
            return type_


def from_json(value: Any, type_: ColumnType) -> Any:
    """The value as a column of the type holds it; what is no text is written as JSON for a string."""
    if value is None:
        return None
    match type_:
        case "double":
            return value if isinstance(value, float) else float(str(value))  # of a text: one that is too great is infinite
        case DecimalOf():
            return Decimal(value)
        case "string":
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        case ArrayOf():
            return [from_json(each, type_.element) for each in value]
        case StructOf():
            return {name: from_json(value.get(name), inner) for name, inner in type_.fields}
        case _:
            return value


def csv_type(field: str | None) -> ColumnType:
    """The type of a field of CSV; an empty one is null."""
    if not field:
        return "null"
    if _WHOLE.fullmatch(field):
        return _whole_type(int(field)) if len(field) <= _MOST_DIGITS else "double"
    if _NUMBER.fullmatch(field.strip()) or field in _NO_NUMBERS:
        return "double"
    if _DATE.fullmatch(field) and date_in(field) is not None:
        return "date"
    if instant_in(field) is not None:
        return "timestamp"
    return "boolean" if field.lower() in ("true", "false") else "string"


def from_csv(field: str | None, type_: ColumnType) -> Any:
    """The field as a column of the type holds it."""
    if not field:
        return None
    match type_:
        case "long":
            return int(field)
        case "double":
            return _NO_NUMBERS[field] if field in _NO_NUMBERS else float(field.strip().rstrip("dDfF"))
        case DecimalOf():
            return Decimal(field)
        case "boolean":
            return field.lower() == "true"
        case "date":
            return date_in(field)
        case "timestamp":
            return instant_in(field)
        case _:
            return field


def date_in(text: str) -> date | None:
    """The day that the text says as yyyy-MM-dd; None where it says none."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def instant_in(text: str) -> datetime | None:
    """The instant that the text says in ISO 8601, in UTC where it names no zone; None where it says none. A day is its first instant."""
    if not _TIMESTAMP.fullmatch(text) and not _DATE.fullmatch(text):
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
