"""How many records have come out of an operator whose state holds rows as they came, as a join of two streams does.

Spark removes a row that has met others from the state of a join, and says it to nobody. What has come out is therefore what has gone in, has
left by no side, and is no longer in state: rows are counted before the join and behind it, and in its state, each by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.core.account import COUNTED
from streamproof.core.manifest import Manifest
from streamproof.core.sides import UNMATCHED_OF

if TYPE_CHECKING:
    from streamproof.stream.node import Node

HELD = "held"
"""Under what a manifest counts the rows that are in state after its batch."""
_EMITTED, _EXPANDED, _DUPLICATE = "emitted", "expanded", "duplicate"


def gone_in(counts: Mapping[str, int], measured: Mapping[str, int], *, rows: int, alone: int) -> dict[str, int]:
    """What a batch has let into the state, as `emitted`, and what is there after it; `since` adds to `emitted` what was held before the batch.

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


@dataclass(frozen=True)
class GoneOn:
    """How many rows have gone on from an operator, and how many records they are of."""

    rows: int = 0
    records: int = 0


def told_by_state(
    root: "Node", counts: Mapping[str, int], measured: Mapping[str, int], went: Mapping[str, GoneOn], *, rows: int, records: int
) -> dict[str, int]:
    """What a batch counts otherwise where an operator holds rows as they came; nothing where none does.

    Parameters
    ----------
    counts, measured
        As in `gone_in`. Who does not count "met" says that nothing gets lost between the operator and what is counted next.
    went
        By operator what has gone on from it to another one with state.
    rows, records
        How many rows are in the main output, and how many records these are of.
    """
    holding = next((operator for operator in root.keeping if operator.holds_rows), None)
    if holding is None:
        return {}
    alone = sum(counts.get(str(side), 0) for side in UNMATCHED_OF)  # not those that a lookup has found no row for
    joined = went.get(holding.name, GoneOn())
    measured = {"met": (joined.rows if root.passes_on else rows) + alone, **measured}
    if not root.passes_on:
        return gone_in(counts, measured, rows=rows, alone=alone)
    once = None if root.dropping is None else went.get(root.dropping.name, GoneOn())
    return gone_on(counts, measured, joined=joined, once=once, out=records, alone=alone)


def gone_on(
    counts: Mapping[str, int], measured: Mapping[str, int], *, joined: GoneOn, once: GoneOn | None, out: int, alone: int
) -> dict[str, int]:
    """What a batch has beyond its input where the rows of a join go on, as `expanded`, and what is in the state of the join after it; `since`
    takes from `expanded` what was held before the batch. And of a deduplication after the join the records of the rows that it has dropped.

    A row that Spark drops as late, in the join or after it, makes the account wrong, and so does one that gets lost between them (R31).

    Parameters
    ----------
    counts, measured, alone
        As in `gone_in`; of a deduplication Spark counts the rows that it drops ("duplicate").
    joined, once
        What went on from the join, and from a deduplication after it, where there is one.
    out
        How many records the rows of the main output are of.
    """
    aside = sum(counts.get(place, 0) for place in COUNTED if place not in (_EMITTED, _DUPLICATE))
    held = measured.get(HELD, 0)
    left = counts.get("input", 0) - aside - measured.get("dropped", 0) - held
    lost = measured.get("met", 0) - alone - joined.rows
    found = {_EXPANDED: joined.records + lost - left, HELD: held, _EMITTED: out}
    if once is None:
        return found
    untold = joined.rows - once.rows - measured.get("duplicate", 0)
    return {**found, _DUPLICATE: joined.records - once.records - untold}


def since(counts: Mapping[str, int], before: Manifest | None, *, goes_on: bool = False) -> dict[str, int]:
    """The counts of a batch, with what has left the state of a join since the batch before, given the manifest of that.

    Parameters
    ----------
    goes_on
        Whether its rows go on to another operator with state: what has left is then in their rows, else among what has come out.
    """
    if HELD not in counts:
        return dict(counts)
    held = before.counts.get(HELD, 0) if before is not None else 0
    return {**counts, **({_EXPANDED: counts[_EXPANDED] - held} if goes_on else {_EMITTED: counts[_EMITTED] + held})}
