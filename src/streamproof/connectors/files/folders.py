"""Columns that the path of a file says: `data/date=2026-03-02/part.json` gives all its rows a date."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from streamproof._jvm import FROM_PATH, Folder
from streamproof.errors import ConfigurationError
from streamproof.stream.names import quoted

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""How a folder is called whose rows have a null there."""


def of_paths(name: str, schema: StructType, folder: Folder, hidden: Sequence[str] = ()) -> list[str]:
    """The columns of `schema` that folders name; all that they could name while nothing lies in the folder yet.

    Raises
    ------
    ConfigurationError
        If a folder names a column that no text can be a value of.
    """
    found = []
    for field in schema.fields:
        named = folder.named is None or any(field.name.lower() == other.lower() for other in folder.named)
        if not named or field.name in hidden:
            continue
        if _holds_a_text(field.dataType):
            found.append(field.name)
        elif folder.named is not None:
            raise ConfigurationError(
                f"[source.{name}] schema has {field.name} {field.dataType.simpleString()}, and folders of its path name it: {field.name}=...",
                required="A folder can name a number, a text, a date, a time or a boolean.",
                remedy=f"Rename the column {field.name}, or the folders.",
            )
    return found


def carried(columns: Sequence[str]) -> list[str]:
    """The hidden columns of what paths say, as a selection takes them."""
    return [quoted(f"{FROM_PATH}{column}") for column in columns]


def placed(
    rows: DataFrame,
    schema: StructType,
    columns: Sequence[str],
    problem: str,
    required: Sequence[str] = (),
    event_time: str | None = None,
) -> DataFrame:
    """The rows with the values that their paths say in the place of those of the record, as Spark does it.

    Parameters
    ----------
    columns
        Those of `schema` that paths may say; `carried` are columns of `rows` and leave here.
    problem
        The column (string) that says why a record does not fit, made if there is none. A text in the path that is no value of the column's
        type is such a reason.
    required
        Those that a record cannot have by itself: a path that does not say one is such a reason too.
    event_time
        The column of event time. A record that has another one than its path says is such a reason: it would be moved to another window.
    """
    if not columns:
        return rows
    reasons = [F.col(problem)] if problem in rows.columns else []
    made = []
    for field in schema.fields:
        if field.name not in columns:
            made.append(F.col(quoted(field.name)))
            continue
        said = F.col(quoted(f"{FROM_PATH}{field.name}"))
        value = _read(said, field)
        is_null = said == _NO_VALUE
        made.append(
            F.when(said.isNull(), F.col(quoted(field.name)))
            .when(is_null, F.lit(None).cast(field.dataType))
            .otherwise(value)
            .alias(field.name)
        )
        if field.name == event_time:
            own = F.col(quoted(field.name))
            moved = said.isNotNull() & own.isNotNull() & ~own.eqNullSafe(value)
            reasons.append(
                F.when(moved, F.lit(f"{field.name}, the event time, is another in the path of its file than in the record"))
            )
        if field.name in required:
            reasons.append(F.when(said.isNull(), F.lit(f"the path of its file does not say {field.name}")))
        if not isinstance(field.dataType, StringType):
            unfit = said.isNotNull() & ~is_null & value.isNull()
            reasons.append(F.when(unfit, F.lit(f"{field.name} in the path of its file is no {field.dataType.simpleString()}")))
    others = [
        F.col(quoted(name))
        for name in rows.columns
        if name not in schema.names and name != problem and not name.startswith(FROM_PATH)
    ]
    if reasons:
        others.append((reasons[0] if len(reasons) == 1 else F.coalesce(*reasons)).alias(problem))
    return rows.select(*made, *others)


def _read(said: Column, field: StructField) -> Column:
    return said if isinstance(field.dataType, StringType) else said.try_cast(field.dataType)


def _holds_a_text(type_: DataType) -> bool:
    return not isinstance(type_, ArrayType | MapType | StructType) and type_.typeName() != "variant"
