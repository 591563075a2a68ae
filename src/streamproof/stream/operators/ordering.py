"""What puts the rows of a key in order: a column, then the event time, then a hash of the row, so that it does not depend on how rows come."""

from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.names import WHOLE_TEXT, quoted, visible

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def require_order(rows: "DataFrame", method: str, name: str) -> None:
    """JobDefinitionError unless rows can be put in order by a column, in the stream and by the model of a proof."""
    type_ = rows.schema[name].dataType
    if not _has_order(type_):
        raise JobDefinitionError(
            f"{method}(order_by={name!r}): the column is {type_.simpleString()}.",
            required="Rows are put in order by a number, a text, a date, a timestamp or a truth.",
            remedy="Make such a column by transform() before it.",
        )


def comparable(rows: "DataFrame", name: str) -> "Column":
    """A column as Java compares it, in Spark's order: a whole number, a double, a decimal, or bytes."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    column = F.col(quoted(name))
    match rows.schema[name].dataType:
        case T.FloatType() | T.DoubleType():
            return column.cast("double")
        case T.DecimalType():
            return column
        case T.DateType():
            return F.unix_date(column).cast("bigint")
        case T.TimestampType():
            return F.unix_micros(column)
        case T.TimestampNTZType():
            return F.unix_micros(column.cast("timestamp"))  # a session is in UTC
        case T.StringType() | T.CharType() | T.VarcharType():
            return column.cast("binary")
        case _:
            return column.cast("bigint")


def row_hash(rows: "DataFrame") -> "Column":
    """A hash of the whole row as the job sees it; its text itself would be in state."""
    from pyspark.sql import functions as F

    return F.xxhash64(F.to_json(F.struct(*map(quoted, visible(rows.columns))), WHOLE_TEXT))


def _has_order(type_: "DataType") -> bool:
    """A text with a collation has one that the model of a proof does not know."""
    from pyspark.sql import types as T

    if isinstance(type_, T.StringType):
        return type_ == T.StringType()
    texts = T.CharType | T.VarcharType
    return isinstance(type_, T.NumericType | T.BooleanType | T.DateType | T.TimestampType | T.TimestampNTZType | texts)
