"""The rows that leave an operator by a side output of its own are in that output: each once, by the batch in which it left (R14).

Late, rejected and duplicate rows have checkers of their own. This one holds every other side output to the model, such as the rows of a join that
have met no partner.
"""

from collections.abc import Iterator
from functools import partial

from streamproof.prove.artifacts.history import History, QueryView
from streamproof.prove.checkers import Finding, checker, require_decided
from streamproof.prove.checkers.side_rows import Code, compare
from streamproof.prove.checkers.wording import full_instant

__all__ = ["Code", "side_routing"]

_HAVE_THEIR_OWN = ("main", "late", "rejected", "duplicate")


@checker("side-routing")
def side_routing(history: History) -> Iterator[Finding]:
    """Compare each side output with what the twins let leave there, batch by batch."""
    for view in history.queries:
        for output in view.left.outputs.values():
            side = output.side
            if side.kind in _HAVE_THEIR_OWN:
                continue
            require_decided(view)
            left = {trace: outcome.batch for outcome in view.batches for trace in outcome.left_by(side.kind, side.name)}
            yield from compare(history, view, output, left, side.said, partial(_why, view))


def _why(view: QueryView, trace: str) -> str:
    """Where the record is by the model, beside its event time."""
    record, fate = view.arrived.get(trace), view.model.fates.get(trace)
    if record is None or fate is None:
        return "no batch has read it"
    happened = f"its event time is {full_instant(record.time_us)}, " if record.time_us is not None else ""
    return f"{happened}it is {fate[0].replace('_', ' ')} by the model"
