"""Rows that found no partner leave by the unmatched output: exactly those that the model finds none for, each by the batch that has read it."""

from collections.abc import Iterator

from streamproof.prove.artifacts.history import History
from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.side_rows import Code, compare
from streamproof.prove.oracle.rows import UNMATCHED

__all__ = ["Code", "unmatched_routing"]


@checker("unmatched-routing")
def unmatched_routing(history: History) -> Iterator[Finding]:
    """Compare the unmatched output with the model, batch by batch."""
    for view in history.queries:
        for output in view.sides(UNMATCHED):
            name = output.side.name
            expected = {trace: outcome.batch for outcome in view.batches for trace in outcome.left_by(UNMATCHED, name)}
            yield from compare(history, view, output, expected, UNMATCHED, lambda _: "by what its partner could be in that batch")
