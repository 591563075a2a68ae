"""Files of lines that are no JSON: CSV and text. What is no record keeps its bytes and says why."""

from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof.connectors import json_records
from streamproof.stream.plan import CORRUPT, ORIGINAL, PROBLEM, TRACE

if TYPE_CHECKING:
    from pyspark.sql import DataFrameReader
    from pyspark.sql.streaming.readwriter import DataStreamReader

    from streamproof.config.sources import CsvDialect

    Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)

CSV = "io.streamproof.CsvFiles"
_RECORDS = "original string, json string, problem string"
_NO_UTF8 = "bytes that are not UTF-8"


def csv_reader(reader: "Reader", schema: StructType, dialect: "CsvDialect") -> "Reader":
    """A reader of files of CSV: `original` (the bytes of a record), `json` (its fields as an object) and `problem` (why it is no record)."""
    options = {
        "columns": schema.json(),
        "header": str(dialect.header).lower(),
        "delimiter": dialect.delimiter,
        "quote": dialect.quote,
        "escape": dialect.escape,
        "none": dialect.null,
    }
    return reader.format(CSV).schema(_RECORDS).options(**options)


def of_csv(rows: DataFrame, schema: StructType, *, lenient: bool) -> DataFrame:
    """What `csv_reader` reads with the columns of `schema`, `_problem` (why a record does not fit; null of the others) and `_original`."""
    parsed = json_records.parsed(rows, F.col("json"), schema, ("original", "problem"), lenient=lenient)
    unread = F.when(F.col("problem").isNotNull(), F.col("problem")).otherwise(F.col(CORRUPT))
    columns = [F.col(f"`{name}`") for name in schema.names]
    return parsed.select(*columns, unread.alias(PROBLEM), F.col("original").alias(ORIGINAL))


def of_text(rows: DataFrame, schema: StructType) -> DataFrame:
    """Lines (`value`, string) as the one column of `schema`; in proofs the trace id stands in front of a line, with a tab behind it."""
    line = F.col("value")
    problem = F.when(~F.is_valid_utf8(line), F.lit(_NO_UTF8))
    if TRACE not in schema.names:
        return rows.select(line.alias(schema.names[0]), problem.alias(PROBLEM), line.alias(ORIGINAL))
    text = next(name for name in schema.names if name != TRACE)
    behind = F.expr("substring(value, instr(value, '\t') + 1)")
    return rows.select(
        F.substring_index(line, "\t", 1).alias(TRACE), behind.alias(text), problem.alias(PROBLEM), line.alias(ORIGINAL)
    )
