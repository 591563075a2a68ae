"""A table as a file of Avro (an object container), by another library than the product reads it with."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamproof.connectors.extras import library
from streamproof.errors import ScenarioError

_MICROS = {"type": "long", "logicalType": "timestamp-micros"}
_TYPES: Mapping[pa.DataType, Any] = {
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.timestamp("us", tz="UTC"): _MICROS,
    pa.timestamp("us"): {"type": "long", "logicalType": "local-timestamp-micros"},
}


def write_avro(table: pa.Table, path: Path) -> None:
    """Write the rows; every column may be null. The same rows give the same bytes in a file of the same name.

    Raises
    ------
    ScenarioError
        If a column has a type that is not written.
    MissingExtra
        If the library is not installed.
    """
    fastavro = library("fastavro", "lab", "A proof with Avro")
    fields = [{"name": field.name, "type": ["null", _type(field)], "default": None} for field in table.schema]
    schema = fastavro.parse_schema({"type": "record", "name": "Event", "fields": fields})
    marker = hashlib.sha256(path.name.encode()).digest()[:16]  # else it is random
    with path.open("wb") as file:
        fastavro.writer(file, schema, table.to_pylist(), sync_marker=marker)


def _type(field: "pa.Field[Any]") -> Any:
    if pa.types.is_decimal(field.type):
        return {"type": "bytes", "logicalType": "decimal", "precision": field.type.precision, "scale": field.type.scale}
    if field.type not in _TYPES:
        raise ScenarioError(f'The generator cannot write the column "{field.name}" of type "{field.type}" to Avro.')
    return _TYPES[field.type]
