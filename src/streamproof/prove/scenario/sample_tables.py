"""Samples with a schema of their own: Parquet, and Avro object containers."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from streamproof.connectors.extras import library
from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.sample_records import Found, Record
from streamproof.prove.scenario.sample_types import struct_ddl

_ROWS_AT_ONCE = 4096
_MOST_DIGITS = 38
_BY_ARROW: Mapping[pa.DataType, tuple[str, pa.DataType]] = {
    pa.null(): ("string", pa.string()),
    pa.bool_(): ("boolean", pa.bool_()),
    pa.int8(): ("tinyint", pa.int8()),
    pa.int16(): ("smallint", pa.int16()),
    pa.int32(): ("int", pa.int32()),
    pa.int64(): ("long", pa.int64()),
    pa.uint8(): ("smallint", pa.int16()),
    pa.uint16(): ("int", pa.int32()),
    pa.uint32(): ("long", pa.int64()),
    pa.uint64(): ("decimal(20,0)", pa.decimal128(20, 0)),
    pa.float16(): ("float", pa.float32()),
    pa.float32(): ("float", pa.float32()),
    pa.float64(): ("double", pa.float64()),
    pa.date32(): ("date", pa.date32()),
    pa.date64(): ("date", pa.date32()),
}
_BY_AVRO = {
    "null": "string",
    "boolean": "boolean",
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
    "enum": "string",
    "fixed": "binary",
}
_BY_LOGICAL = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "local-timestamp-millis": "timestamp_ntz",
    "local-timestamp-micros": "timestamp_ntz",
    "uuid": "string",
}


class _Unknown(Exception):
    """A type that Spark does not read; the message is its name."""


def parquet(path: Path, most: int) -> Found:
    """The rows of a Parquet file, in types that Spark reads from Parquet: nanoseconds are cut to microseconds, and that is said."""
    _require_magic(path, b"PAR1", "Parquet file")
    try:
        with pq.ParquetFile(path) as file:
            columns, fields = _arrow_columns(path, file.schema_arrow)
            layout = pa.schema(fields)
            records: list[Record] = []
            more = False
            notes = tuple(_cut_times(file.schema_arrow))
            for batch in file.iter_batches(_ROWS_AT_ONCE):
                rows = pa.Table.from_batches([batch]).cast(layout, safe=False).to_pylist()
                records += (Record(None, row) for row in rows[: most - len(records)])
                if more := file.metadata.num_rows > most and len(records) == most:
                    break
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        raise ScenarioError(
            f"{display(path)} cannot be read as Parquet: {_first_line(problem)}", remedy="Write it again."
        ) from None
    return Found(records, columns, more, layout=layout, notes=notes)


def _arrow_columns(path: Path, schema: pa.Schema) -> tuple[dict[str, str], list[Any]]:
    columns, fields = {}, []
    for field in schema:
        if field.name in columns:
            raise ScenarioError(f'{display(path)} has the column "{field.name}" twice.', remedy="Give one of them another name.")
        try:
            ddl, type_ = _of_arrow(field.type)
        except _Unknown as problem:
            raise _not_read(path, field.name, str(problem)) from None
        columns[field.name] = ddl
        fields.append(pa.field(field.name, type_))
    return columns, fields


def _of_arrow(type_: pa.DataType) -> tuple[str, pa.DataType]:
    """The type in DDL, and the Arrow type that is written for it."""
    if type_ in _BY_ARROW:
        return _BY_ARROW[type_]
    match type_:
        case pa.TimestampType():
            zoned = type_.tz is not None
            return ("timestamp" if zoned else "timestamp_ntz"), pa.timestamp("us", tz="UTC" if zoned else None)
        case pa.DictionaryType():
            return _of_arrow(type_.value_type)
        case pa.MapType():
            (key, arrow_key), (item, arrow_item) = _of_arrow(type_.key_type), _of_arrow(type_.item_type)
            return f"map<{key}, {item}>", pa.map_(arrow_key, arrow_item)
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType():
            inner, arrow = _of_arrow(type_.value_type)
            return f"array<{inner}>", pa.list_(arrow)
        case pa.StructType() if type_.num_fields:
            inner_types = {field.name: _of_arrow(field.type) for field in type_}
            ddl = struct_ddl({name: inner for name, (inner, _) in inner_types.items()})
            return ddl, pa.struct([pa.field(name, arrow) for name, (_, arrow) in inner_types.items()])
    if pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return "string", pa.string()
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or pa.types.is_fixed_size_binary(type_):
        return "binary", pa.binary()
    if pa.types.is_decimal(type_) and type_.precision <= _MOST_DIGITS and type_.scale >= 0:
        return f"decimal({type_.precision},{type_.scale})", pa.decimal128(type_.precision, type_.scale)
    raise _Unknown(str(type_))


def _cut_times(schema: pa.Schema) -> Iterator[str]:
    for field in schema:
        if isinstance(field.type, pa.TimestampType) and field.type.unit == "ns":
            yield f"{field.name} is in nanoseconds, which Spark does not read from Parquet; it is taken in microseconds."


def avro(path: Path, most: int) -> Found:
    """The records of an Avro object container; a union is of one type and null, or of numbers."""
    fastavro = library("fastavro", "lab", "A sample in Avro")
    _require_magic(path, b"Obj\x01", "Avro object container")
    try:
        with path.open("rb") as file:
            reader = fastavro.reader(file)
            columns = _avro_columns(path, reader.writer_schema)
            rows = list(islice(reader, most + 1))
    except ScenarioError:
        raise
    except Exception as problem:  # noqa: BLE001 -- what fastavro raises over a damaged file has no common type
        raise ScenarioError(f"{display(path)} cannot be read as Avro: {_first_line(problem)}", remedy="Write it again.") from None
    records = [Record(None, {name: _plain(row.get(name)) for name in columns}) for row in rows[:most]]
    return Found(records, columns, len(rows) > most, layout=reader.writer_schema)


def _avro_columns(path: Path, schema: Any) -> dict[str, str]:
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise ScenarioError(f"{display(path)} holds no records.", required="The schema of an Avro sample is a record.")
    named: dict[str, Any] = {}
    _name_types(schema, named)
    columns = {}
    for field in schema["fields"]:
        try:
            columns[field["name"]] = _of_avro(field["type"], named, ())
        except _Unknown as problem:
            raise _not_read(path, field["name"], str(problem)) from None
    return columns


def _name_types(schema: Any, named: dict[str, Any]) -> None:
    """Collects the records, enums and fixed types by their names, by which later fields name them."""
    if isinstance(schema, list):
        for each in schema:
            _name_types(each, named)
    elif isinstance(schema, dict):
        if "name" in schema and schema.get("type") in ("record", "enum", "fixed"):
            named[schema["name"]] = schema
        for field in schema.get("fields", ()):
            _name_types(field["type"], named)
        for key in ("items", "values", "type"):
            if isinstance(schema.get(key), dict | list):
                _name_types(schema[key], named)


def _of_avro(schema: Any, named: Mapping[str, Any], around: Sequence[str]) -> str:
    """The type in DDL."""
    if isinstance(schema, list):
        return _of_union(schema, named, around)
    if isinstance(schema, str):
        if schema in _BY_AVRO:
            return _BY_AVRO[schema]
        if schema in around or schema not in named:
            raise _Unknown(f"{schema}, which holds itself" if schema in around else schema)
        return _of_avro(named[schema], named, around)
    kind, logical = schema["type"], schema.get("logicalType")
    if logical == "decimal" and kind in ("bytes", "fixed"):
        return f"decimal({schema['precision']},{schema.get('scale', 0)})"
    if logical in _BY_LOGICAL:
        return _BY_LOGICAL[logical]
    if logical in ("time-millis", "time-micros"):
        raise _Unknown(str(logical))
    match kind:
        case "record":
            fields = {field["name"]: _of_avro(field["type"], named, (*around, schema["name"])) for field in schema["fields"]}
            if not fields:
                raise _Unknown("a record without fields")
            return struct_ddl(fields)
        case "array":
            return f"array<{_of_avro(schema['items'], named, around)}>"
        case "map":
            return f"map<string, {_of_avro(schema['values'], named, around)}>"
        case str() if kind in _BY_AVRO:
            return _BY_AVRO[kind]
        case _:
            return _of_avro(kind, named, around)


def _of_union(schemas: Sequence[Any], named: Mapping[str, Any], around: Sequence[str]) -> str:
    types = {_of_avro(each, named, around) for each in schemas if each != "null"}
    if len(types) <= 1:
        return types.pop() if types else "string"
    if types == {"int", "long"}:
        return "long"
    if types == {"float", "double"}:
        return "double"
    raise _Unknown(f"a union of {' and '.join(sorted(types))}")


def _plain(value: Any) -> Any:
    """The value as Arrow would give it: what Avro knows as a UUID is a text for Spark."""
    match value:
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(each) for each in value]
        case None | bool() | int() | float() | str() | bytes() | Decimal() | date():
            return value
        case _:
            return str(value)


def _require_magic(path: Path, magic: bytes, what: str) -> None:
    with path.open("rb") as file:
        start = file.read(len(magic))
    if start != magic:
        raise ScenarioError(
            f"{display(path)} is no {what}: it begins with {start!r}.",
            required=f"A {what} begins with {magic!r}.",
            remedy="Give it the ending of what it is.",
        )


def _not_read(path: Path, column: str, type_: str) -> ScenarioError:
    return ScenarioError(
        f'{display(path)} has the column "{column}" of type {type_}, which cannot be read.',
        required="Spark has no such type, or reads it only as something else.",
        remedy="Leave the column out, or write it as a text or a number.",
    )


def _first_line(problem: Exception) -> str:
    return f"{(str(problem).strip().splitlines() or [type(problem).__name__])[0].rstrip('.')}."
