"""The rows that leave an operator by a side output of its own are in that output: each once, in its batch, with its values (R14).

Late, rejected and duplicate rows have checkers of their own. This one holds every other side output to the model: rows without a partner, and
rows that an operator makes for an output with a name.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from streamproof.prove.artifacts.history import History, OutputHistory, QueryView
from streamproof.prove.checkers import Finding, checker, require_decided
from streamproof.prove.checkers.side_rows import compare
from streamproof.prove.checkers.window_contents import SCALARS, equal
from streamproof.prove.checkers.wording import full_instant, values

__all__ = ["Code", "side_routing"]

_HAVE_THEIR_OWN = ("main", "late", "rejected", "duplicate")


class Code(StrEnum):
    """What is found here, beside what `side_rows` finds."""

    OTHER_VALUE = "other-value"


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
            made = _made(view, side.kind, side.name)
            left |= {trace: batch for trace, (batch, _) in made.items()}
            why = partial(_why, view) if not made else _said_by_the_model
            yield from compare(history, view, output, left, side.said, why)
            yield from _of_other_values(history, output, {trace: row for trace, (_, row) in made.items()})


def _made(view: QueryView, kind: str, name: str) -> Mapping[str, tuple[int, Mapping[str, Any]]]:
    """The rows that an operator makes for a side output: by what tells each apart its batch and its values."""
    steps = ((outcome.batch, step) for outcome in view.batches for step in outcome.steps.values())
    return {trace: (batch, row.values) for batch, step in steps for row in step.made.get((kind, name), ()) for trace in row.traces}


def _of_other_values(history: History, output: OutputHistory, made: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    for row in output.rows:
        expected = made.get(row.trace or "", {})
        for column, value in expected.items():
            plain = value is None or isinstance(value, SCALARS)
            if plain and not equal(value, row.values.get(column), column, history.expectations):
                shown = list(expected)
                what = f"was delivered in {output.name} with another {column}"
                said = values(expected, shown), values(row.values, shown)
                yield Finding(Code.OTHER_VALUE, row.trace, what, row.batch, *said, row.file)
                break


def _why(view: QueryView, trace: str) -> str:
    """Where the record is by the model, beside its event time."""
    record, fate = view.arrived.get(trace), view.model.fates.get(trace)
    if record is None or fate is None:
        return "no batch has read it, and no operator makes it by the model"
    happened = f"its event time is {full_instant(record.time_us)}, " if record.time_us is not None else ""
    return f"{happened}it is {fate[0].replace('_', ' ')} by the model"


def _said_by_the_model(_: str) -> str:
    return "the model says so"
