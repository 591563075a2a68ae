"""Directories of files as a stream: JSON, CSV, text, Parquet, Avro (S1)."""

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof import _jvm
from streamproof.connectors import json_records, schemas
from streamproof.connectors.files import lines, parquet_types
from streamproof.connectors.files.formats import CSV, CSV_RECORDS, csv_options
from streamproof.core.file_formats import FILE_FORMATS, TYPED
from streamproof.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrameReader
    from pyspark.sql.streaming.readwriter import DataStreamReader

    from streamproof.config import FilesSource

_ANY_AGE = "36500d"
CONTAINERS = {name: FILE_FORMATS[name].spark for name in TYPED}
"""Formats whose files say their columns, by the name of Spark's reader."""
ALL_FILES = {"ignoreExtension": "true"}
"""A setting of Hadoop's (avro.mapred.ignore.inputs.without.extension) would leave files out without a word; of Parquet it says nothing."""


def read(spark: SparkSession, name: str, source: "FilesSource", path: str, *, stream: bool, trace: bool) -> DataFrame:
    """The source's rows as they lie in the files.

    For JSON: the declared columns, `_corrupt` (why a record does not fit) and `_original` (the bytes of the line); for CSV and text `_problem`
    in the place of `_corrupt`. For Parquet and Avro: the columns of the files. In proofs also `_trace` (string).
    """
    schema = schemas.usable(name, source, _schema(spark, name, source, path), trace=trace)
    reader = spark.readStream if stream else spark.read
    if stream:
        # Spark's default leaves out, without a word, what is a week older than the newest file, and forgets that it has read it.
        reader = reader.option("maxFileAge", _ANY_AGE)
    if stream and source.files_per_batch:
        reader = reader.option("maxFilesPerTrigger", source.files_per_batch)
    if source.format in CONTAINERS:
        return _loaded(reader.format(CONTAINERS[source.format]).options(**ALL_FILES).schema(schema), name, path)
    if source.format == "csv":
        reader = reader.format(CSV).schema(CSV_RECORDS).options(**csv_options(schema, source.csv))
        return lines.of_csv(_loaded(reader, name, path), schema, lenient=source.lenient)
    if source.format == "text":
        return lines.of_text(_loaded(reader.format("text"), name, path), schema)
    return json_records.parsed(_loaded(reader.format("text"), name, path), F.col("value"), schema, lenient=source.lenient)


def _loaded(reader: "DataFrameReader | DataStreamReader", name: str, path: str) -> DataFrame:
    try:
        return reader.load(path)
    except AnalysisException as problem:
        if problem.getCondition() != "PATH_NOT_FOUND":
            raise
        raise DataError(
            f"[source.{name}] path is {path}, and there is no such folder.",
            remedy="Make it, or mend the path in the configuration.",
        ) from problem


def _schema(spark: SparkSession, name: str, source: "FilesSource", path: str) -> StructType:
    if source.schema_ddl:
        return schemas.declared(name, source)
    try:
        return spark.read.format(CONTAINERS[source.format]).options(**ALL_FILES).load(path).schema
    except Exception as problem:  # what Spark and its readers raise over a file has no common type
        said = _jvm.plain(_jvm.causes_of(problem)[-1])
        raise DataError(
            f"[source.{name}] no schema could be read from {path}: {said}",
            remedy=(parquet_types.without_schema(path) if source.format == "parquet" else "")
            or f"Declare schema in the configuration, or look whether the folder holds {FILE_FORMATS[source.format].title} files.",
        ) from problem
