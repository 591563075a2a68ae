"""The columns of a source as its configuration declares them."""

from typing import TYPE_CHECKING

from pyspark.errors import ParseException
from pyspark.sql.types import StringType, StructField, StructType

from streamproof.connectors.json_records import require_parseable
from streamproof.errors import ConfigurationError
from streamproof.stream.names import TRACE, own_name

if TYPE_CHECKING:
    from streamproof.config import SourceConfig


def declared(name: str, source: "SourceConfig") -> StructType:
    """The columns that `schema` lists.

    Raises
    ------
    ConfigurationError
        If Spark cannot read it.
    """
    try:
        found = StructType.fromDDL(source.schema_ddl or "")
    except ParseException as problem:
        raise ConfigurationError(
            f"[source.{name}] schema is not valid: {str(problem).strip().splitlines()[0]}",
            required='A schema is columns with their types: "trade_id string, notional double, ts long".',
        ) from problem
    assert isinstance(found, StructType), "columns with their types parse to a struct"
    return found


def usable(name: str, source: "SourceConfig", schema: StructType, *, trace: bool) -> StructType:
    """The schema, with `_trace` (string) in proofs; ConfigurationError for columns that cannot be read or take one of our names."""
    if source.format in ("json", "csv", "json_schema", "protobuf"):
        require_parseable(name, schema)
    _require_free(name, [column for column in schema.names if not (trace and column == TRACE)])
    if trace and TRACE not in schema.names:
        schema = StructType([StructField(TRACE, StringType()), *schema.fields])
    return schema


def _require_free(name: str, columns: list[str]) -> None:
    taken = own_name(columns)
    if taken is not None:
        raise ConfigurationError(
            f"[source.{name}] has a column {taken}, which is a name of Streamproof's own.",
            required="Its hidden columns would take the place of yours.",
            remedy=f"Declare a schema without {taken}, or write the files with another name for it.",
        )
