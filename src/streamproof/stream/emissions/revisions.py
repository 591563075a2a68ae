"""How often a window has given rows: a hidden aggregate beside those of the job, kept in Spark's own state."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from streamproof.stream.aggregates.accumulator import Accumulator
from streamproof.stream.emissions.emission import REVISION, Emission
from streamproof.stream.names import ADDED, BATCH, DUE, GIVES, REVISIONS, WHOLE_TEXT, WHOSE, WINDOW

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

_SAME = "left._last = right._last"
_COUNT = Accumulator(
    zero={"_last": "-1L", "_new": "0L", "_given": "0L", "_before": "0L"},
    add={
        "_last": BATCH,
        "_new": f"IF(_last = {BATCH}, _new, 0L) + 1L",
        "_given": f"_given + IF({GIVES} AND NOT _last = {BATCH}, 1L, 0L)",
        "_before": f"greatest(_before, IF({GIVES}, 0L, 1L))",
    },
    merge={
        "_last": "greatest(left._last, right._last)",
        "_new": f"CASE WHEN {_SAME} THEN left._new + right._new WHEN left._last > right._last THEN left._new ELSE right._new END",
        "_given": f"IF({_SAME}, greatest(left._given, right._given), left._given + right._given)",
        "_before": "greatest(left._before, right._before)",
    },
    result="named_struct('new', _new, 'given', _given, 'revision', greatest(_given + _before - 1L, 0L))",
)
"""Of a window the newest batch that has changed it, how many records that one has added, how many batches have made it give a row at once,
and whether there were records before the first of these, which went out when the window was on time.

All records that one batch adds to a window make it give a row, or none does: `_given` counts batches.
"""


def marked(rows: "DataFrame", emission: Emission, lateness: timedelta, doors: "Doors") -> "DataFrame":
    """The rows with what the count asks of each: its batch, and whether it makes its window give a row."""
    return rows.withColumns({BATCH: doors.batch(), GIVES: emission.gives(lateness, doors)})


def counted(rows: "DataFrame") -> "Column":
    """The hidden aggregate, over marked rows."""
    return _COUNT.column("revision", rows).alias(REVISIONS)


def shown(emission: Emission, by: "Sequence[str]") -> "tuple[list[Column], list[Column]]":
    """What a grouped row has of it: hidden columns, in front, and the column `revision` (BIGINT).

    Hidden are how many records the account counts as emitted with the row, and of rows that may have to wait when their window ends
    (microseconds UTC; null where the row goes out at once) and whose it is.
    """
    from pyspark.sql import functions as F

    counts = F.col(REVISIONS)
    hidden = [counts.getField("new").alias(ADDED)]
    if emission.parks:
        hidden.append(F.when(counts.getField("given") == 0, F.unix_micros(WINDOW)).alias(DUE))
        hidden.append(F.to_json(F.struct(F.lit(0).alias("_"), *by), WHOLE_TEXT).alias(WHOSE))
    return hidden, [counts.getField("revision").alias(REVISION)]
