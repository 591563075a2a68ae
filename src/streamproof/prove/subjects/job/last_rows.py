"""What an output keeps of the rows that it was given, where it is a table in which a row replaces the one before."""

from typing import TYPE_CHECKING

from streamproof.prove.oracle.facts import Facts, LastRows, OneOfKey
from streamproof.stream.emissions.emission import REVISION

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.prove.artifacts.history import OutputHistory
    from streamproof.prove.subjects.job.arrivals import Arrivals


def keeps_last(config: "JobConfig", output: "OutputHistory | None") -> bool:
    """Whether a later row of a window replaces the earlier ones in an output, as the job's file says."""
    sink = config.sink.get(output.name) if output is not None else None
    return sink is not None and sink.replaces and REVISION not in getattr(sink, "key", ())


def facts_in(config: "JobConfig", sink: str) -> Facts | None:
    """What tells the facts of a sink apart, where the job's file says that it keeps the greatest version of each key; None for windows, whose
    rows replace each other.
    """
    found = config.sink.get(sink)
    if found is None or found.facts is None or found.facts[1] == REVISION:
        return None
    return Facts(*found.facts)


def one_of_key(config: "JobConfig", sink: str, arrivals: "Arrivals") -> OneOfKey | None:
    """What tells the rows of a sink apart, where it is a table that holds one of each key; None for others, and for windows, whose rows are told
    apart by their revisions.
    """
    facts = facts_in(config, sink)
    bound = config.sink.get(sink)
    if facts is not None or bound is None or bound.last_of_key is None:
        return facts
    if arrivals.query.grouped is not None or not arrivals.traced:
        return None
    key, order_by, delete = bound.last_of_key
    return LastRows(tuple(key), order_by, frozenset() if delete is None else arrivals.holding(delete))
