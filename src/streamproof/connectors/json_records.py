"""Records of JSON, one object each, as columns; those that do not fit keep their bytes."""

from collections.abc import Iterator, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, CharType, DataType, MapType, StringType, StructField, StructType, VarcharType

from streamproof import _jvm
from streamproof.errors import ConfigurationError
from streamproof.stream.names import CORRUPT, ORIGINAL

WRITTEN = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How rows are written as JSON: with their nulls, and with whole microseconds; Spark's defaults drop the one and cut the other."""


UNREADABLE = "not parseable"
"""The rejection reason for a record that is not a JSON object, or whose columns have other types."""


def parsed(rows: DataFrame, record: Column, schema: StructType, beside: Sequence[str] = (), *, lenient: bool) -> DataFrame:
    """The rows with the columns of `schema`, `_corrupt` (why a record does not fit; null of the others) and `_original` (the record).

    Parameters
    ----------
    record
        One object of JSON (string); its bytes need not be UTF-8. Null of a record without a value.
    beside
        Columns of `rows` that are kept.
    lenient
        Whether a record is taken where Spark's parser alters what it says.
    """
    fields = StructType([*schema.fields, StructField(CORRUPT, StringType())])
    made = _jvm.json_record(rows.sparkSession, record, fields, corrupt=CORRUPT, lenient=lenient)
    corrupt = F.when(F.col("_parsed").isNull(), F.lit(UNREADABLE)).otherwise(F.col(f"_parsed.{CORRUPT}"))
    columns = [F.col("_parsed").getField(name).alias(name) for name in schema.names]
    return rows.select(record.alias(ORIGINAL), made.alias("_parsed"), *beside).select(
        *columns, *beside, corrupt.alias(CORRUPT), ORIGINAL
    )


def require_parseable(name: str, schema: StructType) -> None:
    """ConfigurationError for types that no record of JSON is read with: Spark's `from_json` refuses them too."""
    for column in schema.fields:
        for type_ in types_in(column.dataType):
            if isinstance(type_, MapType) and not isinstance(type_.keyType, StringType):
                required = "The keys of a map are texts: map<string, ...>."
            elif isinstance(type_, CharType | VarcharType):
                required = "A text is a string, of any length."
            else:
                continue
            raise ConfigurationError(f"[source.{name}] schema has {column.name} {type_.simpleString()}.", required=required)


def types_in(type_: DataType) -> Iterator[DataType]:
    yield type_
    inner: list[DataType] = []
    if isinstance(type_, ArrayType):
        inner = [type_.elementType]
    elif isinstance(type_, MapType):
        inner = [type_.keyType, type_.valueType]
    elif isinstance(type_, StructType):
        inner = [field.dataType for field in type_.fields]
    for part in inner:
        yield from types_in(part)
