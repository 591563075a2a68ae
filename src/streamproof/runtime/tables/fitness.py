"""Whether rows can be looked up in a table: at most one for each key, at any instant."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamproof.errors import DataError
from streamproof.stream.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

    from streamproof.stream.looked_up import TableRows, Use

_KEY = "_key"
_UNMATCHED = "With two rows for one key it would not be known which one a row of the stream gets, or it would come out twice."


def require_fit(name: str, copy: "DataFrame", table: "TableRows", uses: "Sequence[Use]") -> None:
    """Looks through the rows for each use of the table.

    Parameters
    ----------
    copy
        The rows.
    table
        Names the columns of the validity.

    Raises
    ------
    DataError
        If two rows have one key, or hold for one key at one instant; or a row does not say since when it holds, or ends before it begins.
    """
    for use in dict.fromkeys(uses):
        if any(column not in copy.columns for column in use.key):
            continue  # said where the plan is built, beside what the stream has
        if use.at_instant and table.valid_from is not None:
            _require_apart(name, copy, use.key, table.valid_from, table.valid_to)
        else:
            _require_once(name, copy, use.key)


def _require_once(name: str, copy: "DataFrame", key: Sequence[str]) -> None:
    from pyspark.sql import functions as F

    several = _with_key(copy, key).groupBy(*map(quoted, key)).agg(F.count(F.lit(1)).alias("_rows")).where("_rows > 1")
    found = several.orderBy(*map(quoted, key)).select(_hash(key), "_rows").limit(1).collect()
    if found:
        raise DataError(
            f"[table.{name}] has {found[0]['_rows']} rows for {_said(key, found[0])}{_others(several.count() - 1)}.",
            required=_UNMATCHED,
            remedy="Leave one of them in the table, or look up by more columns; rows that hold one after the other need valid_from and as_of. "
            f"{_found_by(key, found[0])}",
        )


def _require_apart(name: str, copy: "DataFrame", key: Sequence[str], begins: str, ends: str | None) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    rows = _with_key(copy, key)
    since, until = F.col(quoted(begins)), F.col(quoted(ends)) if ends else F.lit(None).cast("timestamp")
    endless = rows.where(since.isNull()).select(_hash(key)).limit(1).collect()
    if endless:
        raise DataError(
            f"[table.{name}] has a row for {_said(key, endless[0])} without {begins}.",
            required="Each row says since when it holds.",
            remedy=f"Write the instant; 1970-01-01T00:00:00Z for ever. {_found_by(key, endless[0])}",
        )
    turned = rows.where(until <= since).select(_hash(key)).limit(1).collect()
    if turned:
        raise DataError(
            f"[table.{name}] has a row for {_said(key, turned[0])} that holds from {begins} to {ends}, which is not later.",
            required=f"{ends} is excluded and later than {begins}: such a row never holds.",
            remedy=f"Mend the row, or take it out. {_found_by(key, turned[0])}",
        )
    in_order = Window.partitionBy(*map(quoted, key)).orderBy(since)
    following = rows.withColumn("_next", F.lead(since).over(in_order)).where(F.col("_next").isNotNull())
    overlap = following.where(until.isNull() | (until > F.col("_next")))
    endless_first = until.isNull().alias("_endless")
    found = overlap.orderBy(*map(quoted, key), since).select(_hash(key), endless_first).limit(1).collect()
    if found:
        until_said = "to this day" if found[0]["_endless"] else f"until {ends}, after the next begins"
        remedy = (
            f"End the first where the next begins: {ends} is excluded."
            if ends
            else 'Name the column that says until when a row holds, valid_to = "...", or leave one of them.'
        )
        raise DataError(
            f"[table.{name}] has two rows for {_said(key, found[0])} that hold at one instant: the first {until_said}"
            f"{_others(overlap.count() - 1)}.",
            required=_UNMATCHED,
            remedy=f"{remedy} {_found_by(key, found[0])}",
        )


def _with_key(copy: "DataFrame", key: Sequence[str]) -> "DataFrame":
    """The rows that can be found: a null in a key matches nothing."""
    return copy.where(" and ".join(f"{quoted(column)} is not null" for column in key))


def _hash(key: Sequence[str]) -> "Column":
    """What a key is said by: errors, notes and events never hold values of rows."""
    from pyspark.sql import functions as F

    return F.xxhash64(*map(quoted, key)).alias(_KEY)


def _said(key: Sequence[str], row: "Row") -> str:
    return f"one {', '.join(key)}, {_equation(key, row)}"


def _found_by(key: Sequence[str], row: "Row") -> str:
    return f'Spark finds it in the table: where("{_equation(key, row)}").'


def _equation(key: Sequence[str], row: "Row") -> str:
    return f"xxhash64({', '.join(key)}) = {row[_KEY]}"


def _others(number: int) -> str:
    return f", and {number:,} more such" if number > 0 else ""
