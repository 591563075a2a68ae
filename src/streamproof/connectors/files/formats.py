"""The formats of files: the names that Spark knows them by, how rows are written in them, and which columns they take."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import types
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DayTimeIntervalType,
    MapType,
    NullType,
    StructType,
    YearMonthIntervalType,
)

from streamproof import _jvm
from streamproof.config import CsvDialect
from streamproof.connectors.json_records import WRITTEN
from streamproof.core.file_formats import FILE_FORMATS
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AVRO = FILE_FORMATS["avro"].spark
"""Spark 4.3 brings it, and gives it no short name: that one stands for a jar that need not be there."""
CSV = FILE_FORMATS["csv"].spark
SPARK_NAME: Mapping[str, str] = {"json": "json", "parquet": "parquet", "csv": CSV, "avro": AVRO}
CSV_RECORDS = "original string, json string, problem string"
_NOT_IN_CSV: tuple[type[DataType], ...] = (
    ArrayType,
    MapType,
    StructType,
    NullType,
    DayTimeIntervalType,
    YearMonthIntervalType,
    *((types.VariantType,) if hasattr(types, "VariantType") else ()),  # since Spark 4.0; plain jobs are proved on 3.5 too
)


def write_options(form: str) -> Mapping[str, str]:
    """How rows are written in a format; Avro by the codec that every reader has."""
    return {"json": WRITTEN, "avro": {"compression": "deflate"}}.get(form, {})


def csv_options(schema: StructType, dialect: CsvDialect) -> Mapping[str, str]:
    """The options of a reader of CSV, whose rows are `CSV_RECORDS`.

    These are `original` (the bytes of a record), `json` (its fields as an object) and `problem` (why it is none).
    """
    return {
        "columns": schema.json(),
        "header": str(dialect.header).lower(),
        "delimiter": dialect.delimiter,
        "quote": dialect.quote,
        "escape": dialect.escape,
        "none": dialect.null,
    }


def rows_written(spark: "SparkSession", form: str, schema: StructType, files: list[str]) -> "DataFrame":
    """A row for each row of files that were written here; of CSV not with its columns."""
    if form == "csv":
        return _jvm.rows_of_named(spark, CSV, files, columns=CSV_RECORDS, options=csv_options(schema, CsvDialect()))
    return _jvm.rows_of_named(spark, SPARK_NAME[form], files, columns=schema)


def require_columns(spark: "SparkSession", output: str, form: str, columns: StructType) -> None:
    """ConfigurationError if files of the format do not take the columns of an output."""
    if form == "csv":
        for column in columns.fields:
            if isinstance(column.dataType, _NOT_IN_CSV):
                raise ConfigurationError(
                    f'[sink.{output}] format is "csv", and the column {column.name} is {column.dataType.simpleString()}.',
                    required="A field of CSV holds one value.",
                    remedy='Write it as text, to_json in a transform, or take the format "json", "parquet" or "avro".',
                )
    elif form == "avro":
        try:
            _jvm.avro_schema(spark, columns, "Row")
        except _jvm.Refused as problem:
            raise ConfigurationError(
                f'[sink.{output}] format is "avro", which does not take its columns: {problem}.',
                remedy="Rename the column, or change its type, in the job; or take another format.",
            ) from problem
