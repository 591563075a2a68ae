"""What a function given to `transform` may do with its rows: one comes out for each that goes in, and nothing remembers another."""

from collections import Counter
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.errors import JobDefinitionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROW_WISE = frozenset(
    {
        *("Project", "Filter", "CollectMetrics"),
        *("MapInArrow", "MapInPandas", "MapPartitions", "MapElements", "TypedFilter", "DeserializeToObject", "SerializeFromObject"),
        *("Repartition", "RepartitionByExpression", "RebalancePartitions", "ResolvedHint"),
        *("SubqueryAlias", "View", "WithCTE", "CTERelationDef", "CTERelationRef"),
        "Join",
    }
)
"""The operators of Spark's plans that look at no other row of the stream. A join is one with a table.

They are named instead of the others: an operator that a later Spark brings is refused until somebody has looked at it. A filter, a join with
a table and a function over batches of rows can still lose or double rows, which no plan tells: the account does, at the end of a run.
"""

_AGGREGATES = "aggregates rows", "Aggregate by window(...).aggregate(...)."
_STATE = "groups rows, or keeps state", "Group by window(...).aggregate(...); other keyed state is not there yet."
_DUPLICATES = "drops duplicates", "Drop them by deduplicate(...)."
_SEVERAL = (
    "makes several rows of one",
    "Keep what is several in one row, as an array, and let whoever reads the output take it apart.",
)
_ADDS = "puts streams together", "Make an output of each."
_SOME = "takes some of the rows", 'Drop rows by filter(condition, name="...").'
_OTHERS = "compares rows with others of the stream", "Make an output of each, and let whoever reads them compare."

_REFUSED = {
    "Aggregate": _AGGREGATES,
    "FlatMapGroupsInPandas": _STATE,
    "FlatMapGroupsInArrow": _STATE,
    "FlatMapGroupsInPandasWithState": _STATE,
    "FlatMapGroupsWithState": _STATE,
    "TransformWithState": _STATE,
    "TransformWithStateInPySpark": _STATE,
    "Deduplicate": _DUPLICATES,
    "DeduplicateWithinWatermark": _DUPLICATES,
    "Distinct": _DUPLICATES,
    "EventTimeWatermark": (
        "declares a watermark",
        "Declare the event time and its lag in streamproof.toml, event_time of the source; the watermark follows from them.",
    ),
    "Generate": _SEVERAL,
    "Expand": _SEVERAL,
    "Union": _ADDS,
    "Join of streams": ("joins streams", "Joins are with tables only; a join of streams is not there yet."),
    "Intersect": _OTHERS,
    "Except": _OTHERS,
    "Window": ("computes over other rows", "Aggregate by window(...).aggregate(...)."),
    "Sample": _SOME,
    "GlobalLimit": _SOME,
    "LocalLimit": _SOME,
    "Offset": _SOME,
    "Tail": _SOME,
    "Sort": ("sorts rows", "A stream has no last row: sort where the output is read."),
}
"""What each of the others does, and what to use instead."""


def require_row_by_row(rows: "DataFrame", made: "DataFrame", step: str) -> None:
    """JobDefinitionError if the function of a transform did to streaming rows what it may not: state, several rows of one, other streams.

    Parameters
    ----------
    rows, made
        What it was given, and what it returned.
    step
        How errors call it.
    """
    if not rows.isStreaming:
        return
    if not made.isStreaming:
        raise JobDefinitionError(
            f"{step} returned a DataFrame that is no stream.", required="It returns the rows that it was given, changed."
        )
    refused = next((name for name in _added(rows, made) if name not in _ROW_WISE), None)
    if refused is None:
        return
    operator, _, function = refused.partition(" ")
    does, instead = _REFUSED.get(refused) or _REFUSED.get(operator, ("does what is not known to work row by row", ""))
    raise JobDefinitionError(
        f"{step} {does}: {function if operator == 'Generate' else operator} in Spark's plan.",
        required="A transform makes one row of each and knows no other one, so that every record is accounted for.",
        remedy=instead or "Do it where the output is read.",
    )


def _added(rows: "DataFrame", made: "DataFrame") -> list[str]:
    """The operators that a function has added, from the top.

    By their number: Spark may have changed those below, such as for a column of metadata, and then they are no longer the same objects.
    """
    before = Counter(_jvm.operators_of_stream(rows))
    added = []
    for name in reversed(_jvm.operators_of_stream(made)):
        if before[name]:
            before[name] -= 1
        else:
            added.append(name)
    return added[::-1]
