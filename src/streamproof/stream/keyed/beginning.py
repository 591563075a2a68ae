"""The state that keys have before the first batch, from the rows of a table."""

from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.keyed.compiled import Compiled
from streamproof.stream.looked_up import TableRows
from streamproof.stream.names import quoted
from streamproof.stream.problems import require_columns
from streamproof.stream.sql_texts import require_fits

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LATEST, FIELDS = "_latest", "_fields"
_TYPES = "A field has the type of what it starts as, and a column of the table one that fits it."


def state_from(table: TableRows, compiled: Compiled) -> "DataFrame":
    """Of each key its columns; `_latest`, when its latest row was (bigint, microseconds UTC); and `_fields`, the struct of its fields.

    Raises
    ------
    JobDefinitionError
        If the table has several rows for a key, or a column is not there or has another type.
    """
    from pyspark.sql import functions as F

    begins, state = compiled.rules.initial, compiled.state
    assert begins is not None, "some keys have a state"
    where, rows = f"keyed(initial=...): [table.{begins.table}]", table.rows
    if table.valid_from is not None:
        raise JobDefinitionError(
            f"{where} has valid_from: a row of it holds from one instant to another.",
            required="State begins with one row for each key.",
            remedy="Take a table that says what holds when the job begins.",
        )
    require_columns(rows, (*compiled.rules.key, *compiled.rules.fields, *([] if begins.at is None else [begins.at])), where)
    for name in compiled.rules.key:
        mine, theirs = (side.schema[name].dataType.simpleString() for side in (compiled.rows, rows))
        if mine != theirs:
            raise JobDefinitionError(
                f"{where}: the column {name} is {theirs}, and that of the stream is {mine}.",
                required="Both sides of a key have the same type.",
                remedy=f"Write the table with {name} as {mine}, or make the column of the stream {theirs} by transform() before keyed().",
            )
    for name in compiled.rules.fields:
        require_fits(f"{where}: the column {name}", rows.schema[name].dataType, state[name].dataType, _TYPES)
    known = rows.where(" AND ".join(f"{quoted(name)} IS NOT NULL" for name in compiled.rules.key))
    fields = [
        (F.col(quoted(one.name)) if one.name in compiled.rules.fields else F.lit(None)).cast(one.dataType).alias(one.name)
        for one in state
    ]
    return known.select(
        *map(quoted, compiled.rules.key), _latest(rows, where, begins.at).alias(LATEST), F.struct(*fields).alias(FIELDS)
    )


def _latest(rows: "DataFrame", where: str, at: str | None) -> "Column":
    from pyspark.sql import functions as F

    if at is None:
        return F.lit(0).cast("bigint")  # no key is forgotten
    if rows.schema[at].dataType.simpleString() != "timestamp":
        raise JobDefinitionError(
            f"{where}: the column {at} is {rows.schema[at].dataType.simpleString()}.",
            required="It is a TIMESTAMP: the event time of the latest row of a key, from which ttl counts.",
        )
    missing = F.raise_error(F.lit(f"{where} has a row without {at}, from which ttl counts."))
    return F.unix_micros(F.coalesce(F.col(quoted(at)), missing))
