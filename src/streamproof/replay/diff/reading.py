"""Reads the rows of an output, each format so that no column and no digit of it is lost before it is compared."""

from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from streamproof import _jvm
from streamproof.connectors.files.formats import AVRO
from streamproof.errors import ConfigurationError
from streamproof.replay.diff.sides import Rows, local

_NULL = "\u0001streamproof null"
"""No field's text. Spark takes an empty text in quotes for null unless null has a text of its own; a field of no length is null with either."""
_OPTIONS = {
    # RFC 4180, as the sink writes it
    "csv": {"mode": "FAILFAST", "header": "true", "escape": '"', "multiLine": "true", "nullValue": _NULL, "emptyValue": ""},
    "json": {"mode": "FAILFAST"},
    "parquet": {"mergeSchema": "true"},  # a column may have come with a later file
    "avro": {},
}


def read_rows(spark: SparkSession, rows: Rows) -> DataFrame:
    """The rows of an output as a DataFrame; those of an output of ours without its batches as a column.

    The fields of CSV are texts: an account "007" is another than "7", and as what they are compared is for the other side to say.

    Raises
    ------
    ConfigurationError
        If Spark cannot read them.
    """
    if rows.batches is not None and not rows.files:
        return spark.createDataFrame([], StructType([]))
    paths = [local(file) for file in rows.files or (rows.place,)]
    try:
        if rows.format == "avro":
            return _avro(spark, paths)
        return _jvm.rows_of_named(spark, rows.format, paths, options=_OPTIONS[rows.format])
    except Exception as problem:
        if not _jvm.is_of_spark(problem):
            raise
        raise unreadable(rows.place, problem) from problem


def _avro(spark: SparkSession, paths: list[str]) -> DataFrame:
    """Files of Avro with the columns of the first and of the last: Spark takes those of one file, and columns come with later ones."""
    found = _jvm.rows_of_named(spark, AVRO, paths)
    files = sorted(found.inputFiles())
    if len(files) < 2:
        return found
    columns = StructType(list(found.schema.fields))
    known = {name.lower() for name in columns.names}
    for file in (files[0], files[-1]):
        for field in _jvm.rows_of_named(spark, AVRO, [_path(file)]).schema.fields:
            if field.name.lower() not in known:
                known.add(field.name.lower())
                columns.add(field.name, field.dataType, True)
    return found if len(columns) == len(found.schema) else _jvm.rows_of_named(spark, AVRO, paths, columns=columns)


def _path(uri: str) -> str:
    """The path that a URI of Spark's names: what is escaped in it is escaped once more in a path."""
    return unquote(urlsplit(uri).path) if uri.startswith("file:") else unquote(uri)


def unreadable(place: str, problem: Exception) -> ConfigurationError:
    """The error for a side that Spark cannot read, in one place."""
    return ConfigurationError(
        f"{place} cannot be read: {_jvm.plain(_jvm.causes_of(problem)[-1])}",
        required="Its files are Parquet, Avro, JSON with one object a line, or CSV with a header.",
        remedy="Look at the file that is named, or compare a folder without it.",
    )
