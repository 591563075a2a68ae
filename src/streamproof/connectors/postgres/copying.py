"""Rows into a table by COPY, from Spark's tasks side by side; each part once, however often its task is tried."""

from collections.abc import Iterator
from functools import partial

import psycopg
import pyarrow as pa
from psycopg import sql
from pyarrow import csv
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType

from streamproof.connectors.postgres.database import Said, identifier, opened, sink_error

_RESULT = "sqlstate string, message string, constraint string, column string"
_NO_HEADER = csv.WriteOptions(include_header=False)


def copy(rows: DataFrame, url: str, where: str, table: str, parts: str) -> None:
    """Copies the rows.

    A task claims its part with a row in the table `parts` (part int primary key) and commits it with its rows: a second attempt finds
    it and does nothing.

    Raises
    ------
    SinkError
        What the database said to a task.
    """
    written = rows.select(*[_as_text(rows, name) for name in rows.columns])
    found = written.mapInArrow(partial(_copied, url, table, parts, tuple(rows.columns)), _RESULT).collect()
    for row in found:
        if row["message"] is not None:
            raise sink_error(Said(row["sqlstate"], row["message"], row["constraint"], row["column"]), where)


def _as_text(rows: DataFrame, name: str) -> Column:
    """The column in a type whose CSV PostgreSQL reads."""
    type_ = rows.schema[name].dataType
    if isinstance(type_, BinaryType):
        return F.concat(F.lit("\\x"), F.hex(name)).alias(name)
    return F.to_json(name).alias(name) if isinstance(type_, ArrayType | MapType | StructType) else F.col(name)


def _copied(
    url: str, table: str, parts: str, columns: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """In a task: one part in one transaction; what the database says goes back as a row, so that its words stay ours."""
    context = TaskContext.get()
    assert context is not None, "called by Spark, in a task"
    said = None
    try:
        with opened(url) as connection:
            claim = sql.SQL("INSERT INTO {} VALUES (%s) ON CONFLICT DO NOTHING").format(identifier(parts))
            if connection.execute(claim, (context.partitionId(),)).rowcount:
                listed = sql.SQL(", ").join(map(sql.Identifier, columns))
                into = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv)").format(identifier(table), listed)
                with connection.cursor().copy(into) as copied:
                    for batch in batches:
                        text = pa.BufferOutputStream()
                        csv.write_csv(batch, text, _NO_HEADER)
                        copied.write(memoryview(text.getvalue()))
    except psycopg.Error as problem:
        said = Said.by(problem)
    yield pa.RecordBatch.from_pydict(
        {
            "sqlstate": [said.sqlstate if said else None],
            "message": [said.message if said else None],
            "constraint": [said.constraint if said else None],
            "column": [said.column if said else None],
        },
        schema=pa.schema([(name, pa.string()) for name in ("sqlstate", "message", "constraint", "column")]),
    )
