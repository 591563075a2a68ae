"""Rows as the lines of CSV that COPY takes: made by all tasks where rows are staged, so that the one that publishes only hands them on."""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructType, TimestampType

from streamproof.connectors.json_records import WRITTEN
from streamproof.stream.names import quoted

DELETE = "_delete"
"""The column that says whether a row deletes its key."""
_LINE, _OF = "line", "streamproof.columns"


@dataclass(frozen=True)
class Columns:
    """What lines hold: the columns of the table, and after them `_delete` (boolean) if `deletes`."""

    names: tuple[str, ...]
    deletes: bool


def lines(rows: DataFrame, delete: str | None = None) -> DataFrame:
    """Rows as one column of text, each with the end of its line; `delete` says which of them delete their key."""
    values = [_text(_named(name), field.dataType) for name, field in zip(rows.columns, rows.schema.fields, strict=True)]
    if delete is not None:
        values.append(F.expr(delete).cast("string"))
    parts: list[Column] = []
    for value in values:  # null is nothing between the commas, an empty text two quotes
        parts += [F.coalesce(value, F.lit("")), F.lit(",")]
    parts[-1] = F.lit("\n")
    told = {_OF: list(rows.columns), DELETE: delete is not None}
    return rows.select(F.concat(*parts).alias(_LINE, metadata=told))


def columns_of(rows: DataFrame) -> Columns:
    """The columns that rows hold as lines."""
    told = rows.schema.fields[0].metadata
    return Columns(tuple(told[_OF]), told[DELETE])


def text_of(lines: pa.RecordBatch) -> memoryview:
    """The lines of an Arrow batch, as they lie after one another: nothing is copied."""
    column = lines.column(0)
    _, ends, text = column.buffers()
    if ends is None or text is None:
        return memoryview(b"")
    numbers = memoryview(ends).cast("B").cast("q" if pa.types.is_large_string(column.type) else "i")
    return memoryview(text)[numbers[column.offset] : numbers[column.offset + len(column)]]


def _text(value: Column, type_: DataType) -> Column:
    if isinstance(type_, ArrayType | MapType | StructType):
        return _quoted(F.to_json(value, WRITTEN))
    if isinstance(type_, BinaryType):
        return F.concat(F.lit("\\x"), F.hex(value))
    if isinstance(type_, TimestampType):
        return F.concat(value.cast("string"), F.lit("Z"))  # sessions are in UTC (R27)
    return _quoted(value) if isinstance(type_, StringType) else value.cast("string")


def _quoted(text: Column) -> Column:
    return F.concat(F.lit('"'), F.replace(text, F.lit('"'), F.lit('""')), F.lit('"'))


def _named(column: str) -> Column:
    return F.col(quoted(column))
