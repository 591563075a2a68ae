"""How much the batches of a query read: as configured, or adapted, beginning with what the newest batch has read."""

from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.connectors.source import Limit
from streamproof.runtime.batch.pacing import Pace, PacedSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.connectors.source import Source
    from streamproof.core.manifest import Fingerprint
    from streamproof.runtime.binding.bound import BoundQuery
    from streamproof.runtime.journal.logs import QueryLogs


def pace_of(query: "BoundQuery", spark: "SparkSession", logs: "QueryLogs") -> Pace:
    """The pace of a query that starts.

    Parameters
    ----------
    logs
        Those of its checkpoint, whole: the first batch takes as much as the newest one there has taken.
    """
    batch_time, inputs = query.config.trigger.batch_time, list(query.inputs.values())
    if batch_time is None:
        return Pace([Limit(source.name, source.most, source.counts) for source in inputs if source.most is not None])
    numbers = logs.batches("offsets")
    newest = logs.of(numbers[-1]).fingerprint if numbers else None
    paced = [
        PacedSource(source, number, _jvm.Intake(spark, _first(source, number, newest)))
        for number, source in enumerate(inputs)
        if source.counts
    ]
    return Pace((), batch_time, paced)


def _first(source: "Source", number: int, newest: "Fingerprint | None") -> int:
    known = newest is not None and number < len(newest.offsets)
    taken = source.taken(number, newest) if known and newest is not None else 0
    first = taken or source.first
    return first if source.most is None else min(first, source.most)
