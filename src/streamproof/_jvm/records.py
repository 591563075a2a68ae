"""Records as columns: lines of JSON, and the wire format of a registry."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from streamproof._jvm.java import java_causes, java_class, plain

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import StructType


def json_record(spark: "SparkSession", line: "Column", schema: "StructType", corrupt: str, *, lenient: bool = False) -> "Column":
    """A line of JSON (string) as a struct, as `from_json` gives it; not deterministic, so that it is parsed once.

    Parameters
    ----------
    schema
        Its fields, among them `corrupt` (string): why a record does not fit, null of the others.
    lenient
        Whether it is also taken where `from_json` alters what it says, or takes for JSON what is none.
    """
    from pyspark.sql import Column

    return Column(java_class(spark, "JsonRecord").column(spark._jsparkSession, line._jc, schema.json(), corrupt, lenient))


def text_behind_record(spark: "SparkSession", line: "Column") -> "Column":
    """Whether a line of JSON (string) goes on after its first value; false of null."""
    from pyspark.sql import Column

    return Column(java_class(spark, "TextBehindRecord").column(line._jc))


class Refused(ValueError):
    """A schema or a type that Avro does not take, in its words."""


def avro_record(
    spark: "SparkSession",
    value: "Column",
    columns: "StructType",
    beside: tuple[str, str],
    reader: str | None,
    units: "Mapping[str, str]",
    url: str,
    headers: "Mapping[str, str]",
) -> "Column":
    """A record in a registry's wire format (binary) as a struct of the columns; not deterministic, so that it is read once.

    Parameters
    ----------
    beside
        The names of two more fields: why a record cannot be read (string, null of the others), and the id of its schema (int).
    reader
        The reader's schema; None for one that follows from the columns.
    units
        By column what a number of it counts, such as "milliseconds": a writer that counts otherwise is not read.

    Raises
    ------
    Refused
        If Avro has no such columns, or the reader's schema does not.
    """
    from pyspark.sql import Column

    made = java_class(spark, "AvroRecord")
    return Column(_avro(made.column, value._jc, columns.json(), *beside, reader, dict(units), url, dict(headers)))


def avro_schema(spark: "SparkSession", columns: "StructType", name: str) -> str:
    """The Avro schema of rows with these columns, every field nullable; Refused where Avro has no such columns."""
    made: str = _avro(java_class(spark, "AvroValue").schema, columns.json(), name)
    return made


def avro_value(spark: "SparkSession", row: "Column", columns: "StructType", schema: str, schema_id: int) -> "Column":
    """A row (struct) in a registry's wire format (binary); Refused where the schema does not take the columns."""
    from pyspark.sql import Column

    return Column(_avro(java_class(spark, "AvroValue").column, row._jc, columns.json(), schema, schema_id))


def _avro(method: Any, *arguments: Any) -> Any:
    from py4j.protocol import Py4JJavaError

    try:
        return method(*arguments)
    except Py4JJavaError as problem:
        said = plain(java_causes(problem.java_exception)[0])
        raise Refused(said.rstrip(".")) from problem
