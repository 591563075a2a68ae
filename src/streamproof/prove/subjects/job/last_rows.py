"""What an output keeps of the rows that it was given, where it is a table in which a row replaces the one before."""

from typing import TYPE_CHECKING

from streamproof.prove.oracle.facts import Facts
from streamproof.stream.emissions.emission import REVISION

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.prove.artifacts.history import OutputHistory


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
