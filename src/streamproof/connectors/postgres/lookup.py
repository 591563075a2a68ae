"""A table or a view of PostgreSQL that rows are looked up in: one statement reads it whole, as it is at one moment."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow as pa
from psycopg import sql
from pyspark.sql import DataFrame, SparkSession

from streamproof.connectors.postgres.database import Said, identifier, is_passing, opened, where_of
from streamproof.errors import DataError, SourceUnavailable

if TYPE_CHECKING:
    from streamproof.config import PostgresTable

_COLUMNS = """
select a.attname, format_type(a.atttypid, a.atttypmod), t.typtype = 'e'
from pg_attribute a join pg_type t on t.oid = a.atttypid
where a.attrelid = to_regclass(%s) and a.attnum > 0 and not a.attisdropped order by a.attnum
"""
_TEXTS = ("text", "uuid", "citext")
_SIZED_TEXT = re.compile(r"(?:character varying|character|bpchar|varchar)(?:\(\d+\))?")
_NUMERIC = re.compile(r"numeric(?:\((\d+),(\d+)\))?")
_TYPES: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "date": pa.date32(),
    "timestamp with time zone": pa.timestamp("us", tz="UTC"),
    "timestamp without time zone": pa.timestamp("us"),
    "bytea": pa.binary(),
}
_UNLIMITED = (38, 18)
"""How wide a numeric without a size is taken to be; a value that does not fit is refused."""


def rows_of_table(spark: SparkSession, name: str, table: "PostgresTable") -> DataFrame:
    """All rows of a table.

    Raises
    ------
    SourceUnavailable
        If nobody answers.
    DataError
        If the table is not there, may not be read, or has a column or a value that Spark has no type for.
    """
    where = where_of(table.url, table.table)
    try:
        with opened(table.url) as connection:
            types = _types(connection, name, table.table, where)
            columns = sql.SQL(", ").join(
                sql.SQL("{}::text").format(sql.Identifier(column)) if pa.types.is_string(type_) else sql.Identifier(column)
                for column, type_ in types.items()
            )
            found = connection.execute(sql.SQL("SELECT {} FROM {}").format(columns, identifier(table.table))).fetchall()
    except psycopg.Error as problem:
        raise _unreadable(name, where, Said.by(problem)) from None
    arrays = {
        column: _array(name, where, column, type_, [row[number] for row in found])
        for number, (column, type_) in enumerate(types.items())
    }
    return spark.createDataFrame(pa.table(arrays))


def _types(connection: psycopg.Connection, name: str, table: str, where: str) -> dict[str, pa.DataType]:
    """By column the type that it has in Spark; one statement later the table may have others, and is refused then."""
    asked = ".".join('"' + part.replace('"', '""') + '"' for part in table.split("."))
    found = connection.execute(_COLUMNS, (asked,)).fetchall()
    if not found:
        raise DataError(
            f"[table.{name}] {where} is not there, or has no columns.",
            required="A table that is not there would leave every row unmatched.",
            remedy="Mend url and table in the configuration; a table outside the search path is written with its schema.",
        )
    types: dict[str, pa.DataType] = {}
    for column, declared, is_enum in found:
        type_ = pa.string() if is_enum else _type(declared)
        if type_ is None:
            raise DataError(
                f"[table.{name}] {where} has the column {column} of type {declared}, which has no type in Spark.",
                required=f"It reads texts, enums, numeric and {', '.join(_TYPES)}.",
                remedy="Read a view that casts the column, or leaves it out.",
            )
        types[column] = type_
    return types


def _type(declared: str) -> pa.DataType | None:
    if declared in _TEXTS or _SIZED_TEXT.fullmatch(declared):
        return pa.string()
    if sized := _NUMERIC.fullmatch(declared):
        precision, scale = (int(sized[1]), int(sized[2])) if sized[1] else _UNLIMITED
        return pa.decimal128(precision, scale) if precision <= _UNLIMITED[0] else None
    return _TYPES.get(re.sub(r"\(\d+\)", "", declared))


def _array(name: str, where: str, column: str, type_: pa.DataType, values: list[Any]) -> Any:
    try:
        return pa.array(values, type_)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise DataError(
            f"[table.{name}] {where} has a value in the column {column} that does not fit {type_}.",
            required="All rows of the table are read as they are; none is rounded or left out.",
            remedy="Read a view that casts the column: a numeric without a size is taken for numeric(38,18), and has no NaN.",
        ) from None


def _unreadable(name: str, where: str, said: Said) -> DataError:
    message = said.message.splitlines()[0] if said.message else f"SQLSTATE {said.sqlstate}"
    kind: Callable[..., DataError] = SourceUnavailable if is_passing(said) else DataError
    return kind(
        f"[table.{name}] {where} cannot be read: {message.rstrip('.')}.",
        required="All rows of the table are read before a batch uses it.",
        remedy="Look whether the server runs, and whether this user may SELECT there; a password belongs into the environment: ${env:...}.",
    )
