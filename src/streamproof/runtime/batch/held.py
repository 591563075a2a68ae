"""How many records have come out of an operator whose state holds rows as they came, as a join of two streams does.

Spark removes a row that has met others from the state of a join, and says it to nobody. What has come out is therefore what has gone in, has
left by no side, and is no longer in state: rows are counted before the join and behind it, and in its state, each by itself.
"""

from collections.abc import Mapping

from streamproof.core.account import COUNTED
from streamproof.core.manifest import Manifest

HELD = "held"
"""Under what a manifest counts the rows that are in state after its batch."""
_EMITTED = "emitted"


def gone_in(counts: Mapping[str, int], measured: Mapping[str, int], *, rows: int, alone: int) -> dict[str, int]:
    """What a batch has let into the state, as `emitted`, and what is there after it; `emitted` is told by the batch before.

    A transform behind the join that drops rows or doubles them makes the account wrong by so many, and so does a row that Spark drops as late and
    we have let in: it is not known which record it was, but nothing adds up any more (R31).

    Parameters
    ----------
    counts
        How many records went where in the batch, by place.
    measured
        What Spark's plan has counted: rows that came out of the join ("met"), are in its state ("held"), and were late to it ("dropped").
    rows, alone
        How many rows are in the main output, and how many have left behind the join since they met none.
    """
    aside = sum(counts.get(place, 0) for place in COUNTED if place != _EMITTED)
    doubled = rows - (measured.get("met", 0) - alone)
    held = measured.get(HELD, 0)
    return {_EMITTED: counts.get("input", 0) - aside - measured.get("dropped", 0) + doubled - held, HELD: held}


def since(counts: Mapping[str, int], before: Manifest | None) -> dict[str, int]:
    """The counts of a batch, with what has left the state among what has come out, given the manifest of the batch before."""
    if HELD not in counts:
        return dict(counts)
    return {**counts, _EMITTED: counts[_EMITTED] + (before.counts.get(HELD, 0) if before is not None else 0)}
