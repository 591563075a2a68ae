"""Rows of any types as JSON has them: times are ISO 8601 in UTC, bytes base64. Decimals are `decimal.Decimal`, with all of their digits."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_OPTIONS = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


def as_json(rows: "DataFrame") -> "DataFrame":
    """The rows, each as a text in JSON."""
    from pyspark.sql import functions as F

    return rows.select(F.to_json(F.struct("*"), _OPTIONS))


def reader_of(rows: "DataFrame") -> Callable[[str], dict[str, Any]]:
    """Reads what `as_json` makes of rows."""
    schema = rows.schema

    def read(text: str) -> dict[str, Any]:
        found: dict[str, Any] = _typed(json.loads(text, parse_float=Decimal), schema)
        return found

    return read if '"decimal' in schema.json() else json.loads


def _typed(value: Any, type_: "DataType") -> Any:
    """A value of which each number with a point is a decimal, with doubles where its type has them."""
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StructType

    if isinstance(value, dict) and isinstance(type_, StructType):
        types = {field.name: field.dataType for field in type_.fields}
        return {name: _typed(one, types[name]) for name, one in value.items()}
    if isinstance(value, dict) and isinstance(type_, MapType):
        return {name: _typed(one, type_.valueType) for name, one in value.items()}
    if isinstance(value, list) and isinstance(type_, ArrayType):
        return [_typed(one, type_.elementType) for one in value]
    if isinstance(type_, DecimalType) and isinstance(value, int | Decimal):
        return Decimal(value)
    return float(value) if isinstance(value, Decimal) else value
