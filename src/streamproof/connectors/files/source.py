"""Directories of JSON and Parquet files as a stream: parsing, event time, and what is rejected for want of either (S1, S2)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    CharType,
    DataType,
    DateType,
    MapType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from streamproof import _jvm
from streamproof.core.durations import format_duration, micros_of
from streamproof.errors import ConfigurationError, DataError
from streamproof.stream.plan import CORRUPT, INSTANT, ORIGINAL, TRACE, Doors, column_error, own_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrameReader
    from pyspark.sql.streaming.readwriter import DataStreamReader

    from streamproof.config import EventTime, SourceConfig

_ANY_AGE = "36500d"
_LAST_MICROS = 253_402_300_799_999_999  # 9999-12-31T23:59:59.999999Z, the last instant that Spark can print
_LAST_BIGINT = 2**63 - 2_000  # far enough from the end to be rounded down to whole microseconds
_TICKS = {"seconds": 1, "milliseconds": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}


def read(spark: SparkSession, name: str, source: "SourceConfig", path: str, *, stream: bool, trace: bool) -> DataFrame:
    """The source's rows as they lie in the files.

    For JSON: the declared columns, `_corrupt` (the text of a record that does not fit) and `_original` (the bytes of the line).
    For Parquet: the columns of the files. In proofs also `_trace` (string).
    """
    schema = _schema(spark, name, source, path, trace=trace)
    reader = spark.readStream if stream else spark.read
    if stream:
        # Spark's default leaves out, without a word, what is a week older than the newest file, and forgets that it has read it.
        reader = reader.option("maxFileAge", _ANY_AGE)
    if stream and source.files_per_batch:
        reader = reader.option("maxFilesPerTrigger", source.files_per_batch)
    if source.format == "parquet":
        return _loaded(reader.format("parquet").schema(schema), name, path)
    lines = _loaded(reader.format("text"), name, path)
    parsed = _jvm.json_record(
        spark, F.col("value"), StructType([*schema.fields, StructField(CORRUPT, StringType())]), corrupt=CORRUPT
    )
    corrupt = F.when(F.col("_parsed").isNull(), F.col(ORIGINAL)).otherwise(F.col(f"_parsed.{CORRUPT}"))  # null: a blank line
    columns = [F.col("_parsed").getField(name).alias(name) for name in schema.names]
    return lines.select(F.col("value").alias(ORIGINAL), parsed.alias("_parsed")).select(*columns, corrupt.alias(CORRUPT), ORIGINAL)


def accepted(rows: DataFrame, name: str, source: "SourceConfig", doors: Doors) -> DataFrame:
    """The rows that parse and have a usable event time, the event-time column as TIMESTAMP; the others leave by the door.

    Raises
    ------
    ConfigurationError
        If the event-time column is not there or its type does not fit the declaration.
    """
    declared = source.event_time
    reason = F.lit(None).cast("string")
    if declared is not None:
        if declared.column not in rows.columns:
            raise column_error(f"[source.{name}] event_time", declared.column, rows.columns)
        # A column, and not the expression wherever it is asked for: see ARCHITECTURE.md on the length of the generated loop.
        rows = rows.withColumn(INSTANT, _instant(rows, name, declared))
        reason = _time_reason(declared, doors.clock())
    if CORRUPT in rows.columns:
        more = _jvm.text_behind_record(rows.sparkSession, F.col(ORIGINAL).cast("string"))
        reason = F.when(more, F.lit("more than a record in its line")).otherwise(reason)
        reason = F.when(F.col(CORRUPT).isNotNull(), F.lit("not parseable")).otherwise(reason)
    rows = doors.reject(rows, reason)
    if declared is not None:
        rows = rows.withColumn(declared.column, F.col(INSTANT))
    return rows.drop(CORRUPT, INSTANT)


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


def _schema(spark: SparkSession, name: str, source: "SourceConfig", path: str, *, trace: bool) -> StructType:
    try:
        if source.schema_ddl:
            declared = StructType.fromDDL(source.schema_ddl)
            assert isinstance(declared, StructType), "columns with their types parse to a struct"
            schema = declared
        else:
            schema = spark.read.format("parquet").load(path).schema
    except ParseException as problem:
        raise ConfigurationError(
            f"[source.{name}] schema is not valid: {str(problem).strip().splitlines()[0]}",
            required='A schema is columns with their types: "trade_id string, notional double, ts long".',
        ) from problem
    except Exception as problem:  # what Spark and its readers raise over a file has no common type
        said = _jvm.plain(_jvm.causes_of(problem)[-1])
        raise DataError(
            f"[source.{name}] no schema could be read from {path}: {said}",
            remedy="Declare schema in the configuration, or look whether the folder holds Parquet files.",
        ) from problem
    if source.format == "json":
        _require_parseable(name, schema)
    _require_free(name, [column for column in schema.names if not (trace and column == TRACE)])
    if trace and TRACE not in schema.names:
        schema = StructType([StructField(TRACE, StringType()), *schema.fields])
    return schema


def _require_parseable(name: str, schema: StructType) -> None:
    """ConfigurationError for types that no record of JSON is read with: Spark's `from_json` refuses them too."""
    for column in schema.fields:
        for type_ in _types_in(column.dataType):
            if isinstance(type_, MapType) and not isinstance(type_.keyType, StringType):
                required = "The keys of a map are texts: map<string, ...>."
            elif isinstance(type_, CharType | VarcharType):
                required = "A text is a string, of any length."
            else:
                continue
            raise ConfigurationError(f"[source.{name}] schema has {column.name} {type_.simpleString()}.", required=required)


def _types_in(type_: DataType) -> Iterator[DataType]:
    yield type_
    inner: list[DataType] = []
    if isinstance(type_, ArrayType):
        inner = [type_.elementType]
    elif isinstance(type_, MapType):
        inner = [type_.keyType, type_.valueType]
    elif isinstance(type_, StructType):
        inner = [field.dataType for field in type_.fields]
    for part in inner:
        yield from _types_in(part)


def _require_free(name: str, columns: list[str]) -> None:
    taken = own_name(columns)
    if taken is not None:
        raise ConfigurationError(
            f"[source.{name}] has a column {taken}, which is a name of Streamproof's own.",
            required="Its hidden columns would take the place of yours.",
            remedy=f"Declare a schema without {taken}, or write the files with another name for it.",
        )


def _instant(rows: DataFrame, name: str, declared: "EventTime") -> Column:
    """The event time as TIMESTAMP in UTC; null where it is missing or cannot be read."""
    column, type_ = F.col(declared.column), rows.schema[declared.column].dataType
    if isinstance(type_, TimestampType):
        return column
    if isinstance(type_, TimestampNTZType | DateType):
        return F.to_utc_timestamp(column.cast("timestamp"), declared.zone)
    if isinstance(type_, StringType):
        parsed = F.try_to_timestamp(column, F.lit(declared.format)) if declared.format else F.try_to_timestamp(column)
        if declared.zone == "UTC":
            return parsed
        has_offset = column.rlike(r"([zZ]|[+-]\d\d:?\d\d|\b[A-Z]{3,4}|\])\s*$")
        return F.when(has_offset, parsed).otherwise(F.to_utc_timestamp(parsed, declared.zone))
    if isinstance(type_, NumericType):
        if declared.unit is None:
            raise ConfigurationError(
                f"[source.{name}] event_time: the column {declared.column} is a {type_.simpleString()} and no unit is given.",
                required="A number needs a unit: seconds, milliseconds, microseconds or nanoseconds.",
                remedy=f'event_time = {{ column = "{declared.column}", unit = "milliseconds", ... }}',
            )
        last = min(_LAST_MICROS // 1_000_000 * _TICKS[declared.unit], _LAST_BIGINT)
        usable = column.between(F.lit(-last), F.lit(last))
        return F.when(usable, _from_number(column, declared.unit))
    raise ConfigurationError(
        f"[source.{name}] event_time: the column {declared.column} is a {type_.simpleString()}.",
        required="An event time is a number with a unit, a text with a format, or a timestamp.",
    )


def _from_number(column: Column, unit: str) -> Column:
    if unit == "seconds":
        return F.timestamp_seconds(column)
    if unit == "milliseconds":
        return F.timestamp_millis(column.cast("bigint"))
    micros = column.cast("bigint")
    if unit == "nanoseconds":  # in whole numbers: a quotient of doubles would round 999 nanoseconds up
        micros = F.call_function("div", micros - F.pmod(micros, F.lit(1000)), F.lit(1000))
    return F.timestamp_micros(micros)


def _time_reason(declared: "EventTime", clock: Column) -> Column:
    """What is wrong with the event time of a row; null if nothing is."""
    instant = F.col(INSTANT)
    missing = F.when(F.col(declared.column).isNull(), F.lit(f"no event time in {declared.column}"))
    reason = F.when(instant.isNull(), missing.otherwise(F.lit(f"event time in {declared.column} not readable")))
    if declared.max_future is not None:
        limit = clock + F.lit(micros_of(declared.max_future))
        text = f"event time more than {format_duration(declared.max_future)} in the future"
        reason = reason.when(F.unix_micros(instant) > limit, F.lit(text))
    return reason
