"""Keys of a sink: the columns of an output by which its store tells rows apart, and the one text that they become."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType

from streamproof.connectors.json_records import WRITTEN
from streamproof.connectors.sink import SinkPlace
from streamproof.stream.problems import column_error

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SEPARATOR = "|"
NULL = r"\N"
"""How a null is written: no value is, since a value's own backslashes are doubled where it could be taken for one."""


def require_key(place: SinkPlace, key: Sequence[str], columns: "StructType") -> None:
    """JobDefinitionError if a column of a sink's key is none of the output's."""
    for name in key:
        if name not in columns.names:
            raise column_error(f"[sink.{place.output}] key", name, columns.names)


def key_text(rows: "DataFrame", key: Sequence[str]) -> "Column":
    r"""The key of each row as one text, another for every other key.

    One column is the value itself; a null is `\N`, and a value that looks like that has one backslash more. Of several columns
    backslashes and separators are escaped, and they are joined: `client|2026-01-05 09:00:00`, `a\|b|c`, `\N|x`. Bytes are in base64,
    arrays, maps and structs in JSON.
    """
    if len(key) == 1:
        value = _text(rows, key[0])
        looks_null = value.rlike(r"^\\+N$")
        return F.coalesce(F.when(looks_null, F.concat(F.lit("\\"), value)).otherwise(value), F.lit(NULL))
    escaped = [F.coalesce(F.regexp_replace(_text(rows, name), r"([\\|])", r"\\$1"), F.lit(NULL)) for name in key]
    return F.concat_ws(SEPARATOR, *escaped)


def null_key(key: Sequence[str]) -> str:
    """The text that `key_text` makes of a row whose key columns are all null: such rows have a key in common, and no name."""
    return SEPARATOR.join([NULL] * len(key))


def key_bytes(rows: "DataFrame", key: Sequence[str]) -> "Column":
    """The key as bytes, for stores that have keys without a value: one column is its bytes or null, several are as in `key_text`."""
    if not key:
        return F.lit(None).cast("binary")
    if len(key) > 1:
        return key_text(rows, key).cast("binary")
    is_binary = isinstance(rows.schema[key[0]].dataType, BinaryType)
    return F.col(key[0]) if is_binary else _text(rows, key[0]).cast("binary")


def _text(rows: "DataFrame", name: str) -> "Column":
    type_ = rows.schema[name].dataType
    if isinstance(type_, BinaryType):
        return F.replace(F.base64(name), F.lit("\r\n"), F.lit(""))
    return F.to_json(name, WRITTEN) if isinstance(type_, ArrayType | MapType | StructType) else F.col(name).cast("string")
