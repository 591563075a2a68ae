"""Directories of files as a stream: JSON, CSV, text, Parquet, Avro (S1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from streamproof import _jvm
from streamproof.config.columns import require_said
from streamproof.connectors import json_records, schemas
from streamproof.connectors.files import folders, lines, parquet_types
from streamproof.connectors.files.formats import CSV, csv_options
from streamproof.connectors.files.names import refusal
from streamproof.core.file_formats import FILE_FORMATS, TYPED
from streamproof.errors import DataError
from streamproof.stream.names import CORRUPT, PROBLEM, TRACE

if TYPE_CHECKING:
    from streamproof.config import FilesSource

_ANY_AGE = "36500d"
CONTAINERS = {name: FILE_FORMATS[name].spark for name in TYPED}
"""Formats whose files say their columns, by the name of Spark's reader."""
ALL_FILES = {"ignoreExtension": "true"}
"""A setting of Hadoop's (avro.mapred.ignore.inputs.without.extension) would leave files out without a word; of Parquet it says nothing."""


def read(
    spark: SparkSession, name: str, source: "FilesSource", path: str, *, stream: bool, trace: bool, intake: str = ""
) -> DataFrame:
    """The source's rows as they lie in the files.

    For JSON: the declared columns, `_corrupt` (why a record does not fit) and `_original` (the bytes of the line); for CSV and text `_problem`
    in the place of `_corrupt`. For Parquet and Avro: the columns of the files. In proofs also `_trace` (string).
    """
    folder = _folder(spark, path)
    if folder is None:
        raise DataError(
            f"[source.{name}] path is {path}, and there is no such folder.",
            remedy="Make it, or mend the path in the configuration.",
        )
    schema = schemas.usable(name, source, _schema(spark, name, source, folder), trace=trace)
    columns = folders.of_paths(name, schema, folder, [TRACE] if trace else [])

    def rows(reader: str, of_file: StructType, options: Mapping[str, str]) -> DataFrame:
        how = {**options, **(_how_a_stream_reads(source, intake) if stream else {})}
        asked = _jvm.Reader(reader, of_file, how)
        return _jvm.rows_of_files(spark, folder, asked, source=name, of_paths=columns, may_be_named=schema.names, stream=stream)

    said, time = folders.carried(columns), source.event_time.column if source.event_time else None
    if source.format in CONTAINERS:
        return folders.placed(rows(CONTAINERS[source.format], schema, ALL_FILES), schema, columns, PROBLEM, event_time=time)
    if source.format == "csv":
        read = rows(CSV, _texts("original", "json", "problem"), csv_options(schema, source.csv))
        return folders.placed(lines.of_csv(read, schema, said, lenient=source.lenient), schema, columns, PROBLEM, event_time=time)
    read = rows("text", _texts("value"), {})
    if source.format == "text":
        own = [column for column in schema.names if column != TRACE]
        require_said(name, own, columns)
        return folders.placed(lines.of_text(read, schema, said), schema, columns, PROBLEM, required=own[1:], event_time=time)
    parsed = json_records.parsed(read, F.col("value"), schema, said, lenient=source.lenient)
    return folders.placed(parsed, schema, columns, CORRUPT, event_time=time)


def _folder(spark: SparkSession, path: str) -> _jvm.Folder | None:
    try:
        return _jvm.folder_at(spark, path)
    except Exception as problem:
        refused = refusal(_jvm.causes_of(problem))
        if refused is None:
            raise
        raise refused from problem


def _texts(*names: str) -> StructType:
    return StructType([StructField(name, StringType()) for name in names])


def _how_a_stream_reads(source: "FilesSource", intake: str) -> dict[str, str]:
    # Spark's default leaves out, without a word, what is a week older than the newest file, and forgets that it has read it.
    limit = {"maxFilesPerTrigger": str(source.files_per_batch)} if source.files_per_batch else {}
    return {"maxFileAge": _ANY_AGE, **({_jvm.INTAKE: intake} if intake else limit)}


def _schema(spark: SparkSession, name: str, source: "FilesSource", folder: _jvm.Folder) -> StructType:
    asked = schemas.declared(name, source) if source.schema_ddl else None
    if asked is not None and (source.format not in CONTAINERS or not _undeclared(asked, folder)):
        return asked
    reader = spark.read.format(CONTAINERS[source.format]).options(**ALL_FILES)
    try:
        return (reader if asked is None else reader.schema(asked)).load(folder.pattern).schema
    except Exception as problem:  # what Spark and its readers raise over a file has no common type
        said = _jvm.plain(_jvm.causes_of(problem)[-1])
        raise DataError(
            f"[source.{name}] no schema could be read from {folder.path}: {said}",
            remedy=(parquet_types.without_schema(folder.path) if source.format == "parquet" else "")
            or f"Declare schema in the configuration, or look whether the folder holds {FILE_FORMATS[source.format].title} files.",
        ) from problem


def _undeclared(schema: StructType, folder: _jvm.Folder) -> bool:
    """Whether folders name a column that is not declared: where files say their columns, Spark gives the job these too."""
    declared = {name.lower() for name in schema.names}
    return any(name.lower() not in declared for name in folder.named or ())
