"""The types in which Spark reads columns of Parquet, and what is said of a file whose columns have others than the schema."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.paths import path_of
from streamproof.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "long",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "long",
    "uint64": "decimal(20,0)",
    "float": "float",
    "double": "double",
    "string": "string",
    "large_string": "string",
    "binary": "binary",
    "large_binary": "binary",
    "date32[day]": "date",
    "time32[ms]": "int",
    "time64[us]": "long",
    "time64[ns]": "long",
}
_PHYSICAL = {"BOOLEAN": "boolean", "INT32": "int", "INT64": "long", "FLOAT": "float", "DOUBLE": "double", "BINARY": "string"}
"""How a column is most likely declared whose file cannot be asked."""
_AVRO_TYPES = {**{name: name for name in ("boolean", "int", "long", "float", "double", "string")}, "bytes": "binary"}
_NANOSECONDS = "Spark has no timestamps of nanoseconds: it reads them as numbers."
_UNIT = 'unit = "nanoseconds"'
_PARQUET = re.compile(
    r"reading file (?P<file>\S+?)\. Data type mismatches when reading Parquet column \[(?P<column>[^\]]*)\]\. "
    r"Expected Spark type (?P<declared>.+?), actual Parquet type (?P<actual>\w+)"
)
_AVRO = re.compile(
    r"Cannot convert Avro field '(?P<column>[^']*)' to SQL field '[^']*'.*?\(avroType = (?P<actual>.*?), sqlType = (?P<declared>.*?)\)",
    re.DOTALL,
)
_SHAPE = re.compile(r"class org\.apache\.spark\.sql\.types\.\w+\$? cannot be cast to|Invalid Spark read type")
_READING = re.compile(r"reading file (\S+?)\.?(?:\s|$)")


def readable_as(type_: "pa.DataType") -> str:
    """The type to declare for a column of Parquet, in DDL; empty where Spark reads no such column."""
    import pyarrow as pa

    if pa.types.is_timestamp(type_):
        return "long" if type_.unit == "ns" else "timestamp" if type_.tz else "timestamp_ntz"
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_duration(type_):
        return "long"
    if pa.types.is_dictionary(type_):
        return readable_as(type_.value_type)
    if pa.types.is_struct(type_):
        fields = [(field.name, readable_as(field.type)) for field in type_]
        return f"struct<{', '.join(f'{name}: {kind}' for name, kind in fields)}>" if all(kind for _, kind in fields) else ""
    if pa.types.is_map(type_):
        key, value = readable_as(type_.key_type), readable_as(type_.item_type)
        return f"map<{key}, {value}>" if key and value else ""
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        inner = readable_as(type_.value_type)
        return f"array<{inner}>" if inner else ""
    return _PLAIN.get(str(type_), "binary" if pa.types.is_fixed_size_binary(type_) else "")


def mismatch(causes: Sequence[str]) -> DataError | None:
    """The error for a file whose column has another type than the schema says; None where Spark has said nothing of the kind."""
    text = "\n".join(causes)
    for pattern in (_PARQUET, _AVRO):
        if found := pattern.search(text):
            parquet = pattern is _PARQUET
            file = path_of(found["file"]) if parquet else _file_in(text)
            declared, actual = (found[name] if parquet else found[name].strip('"') for name in ("declared", "actual"))
            declared = declared.lower()
            return _of_column(file, found["column"], declared, actual, parquet=parquet)
    if _SHAPE.search(text) and "FAILED_READ_FILE" in text:
        return _of_shape(_file_in(text))
    return None


def without_schema(folder: str) -> str:
    """What to declare for files of Parquet whose columns Spark does not read by itself: the line, and why; empty if they are not known."""
    schema = next(filter(None, map(schema_of, sorted(map(str, Path(folder).rglob("*.parquet"))))), None) if folder else None
    if schema is None:
        return ""
    kinds = [(field.name, readable_as(field.type)) for field in schema]
    known = ", ".join(f"{_name(name)} {kind}" for name, kind in kinds if kind)
    unknown = [f"{name} ({schema.field(name).type})" for name, kind in kinds if not kind]
    lines = [f'Declare the columns: schema = "{known}".']
    if any(_is_nano(field.type) for field in schema):
        lines.append(f"{_NANOSECONDS} Where one is the event time: {_UNIT} in event_time.")
    if unknown:
        lines.append(f"Spark does not read {', '.join(unknown)}.")
    return " ".join(lines)


def schema_of(file: str) -> "pa.Schema | None":
    """The columns of a file of Parquet on this machine; None where it is elsewhere, or is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(file)
    except (OSError, pa.ArrowException):
        return None


def _of_column(file: str, column: str, declared: str, actual: str, *, parquet: bool) -> DataError:
    top = column.split(", ")[0]
    type_ = _type_of(file, top) if parquet else None
    inner = f" (its field {', '.join(column.split(', ')[1:])})" if column != top else ""
    found, ddl = (
        (str(type_), readable_as(type_)) if type_ is not None else (actual, (_PHYSICAL if parquet else _AVRO_TYPES).get(actual, ""))
    )
    remedy = f'Declare it as it is written, "{_name(top)} {ddl}" in schema' if ddl else f"Leave {top} out of schema"
    if type_ is not None and _is_nano(type_):
        remedy = f"{_NANOSECONDS} {remedy}; where it is the event time, also {_UNIT} in event_time"
    return _error(f"{file}: the column {top}{inner} is {found} there, and the schema says {declared}", remedy)


def _of_shape(file: str) -> DataError:
    schema = schema_of(file)
    known = {field.name: readable_as(field.type) for field in schema} if schema is not None else {}
    columns = ", ".join(f"{_name(name)} {kind}" for name, kind in known.items() if kind)
    remedy = f'Declare the columns as they are written: "{columns}"' if columns else "Declare the columns as they are written"
    return _error(
        f"{file}: a column is a list, a map or a struct there, and the schema says another type, or the other way round", remedy
    )


def _error(said: str, remedy: str) -> DataError:
    return DataError(
        f"An input file has other types than the schema of its source: {said}.",
        required="Spark reads a column of such files in the type it was written in. Nothing of the batch was published.",
        remedy=f"{remedy}, and run again. Where the file is what is wrong, put one with the declared types in its place.",
    )


def _type_of(file: str, column: str) -> Any:
    schema = schema_of(file)
    names = [] if schema is None else [name for name in schema.names if name.lower() == column.lower()]
    return None if schema is None or not names else schema.field(names[0]).type


def _file_in(text: str) -> str:
    found = _READING.search(text)
    return path_of(found[1]) if found else "see the log"


def _is_nano(type_: "pa.DataType") -> bool:
    import pyarrow as pa

    return pa.types.is_timestamp(type_) and type_.unit == "ns"


def _name(column: str) -> str:
    return column if column.isidentifier() else f"`{column}`"
