"""Side outputs whose rows an operator makes: each holds them, in their batches, with their values."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from streamproof.prove.artifacts.history import History, OutputHistory, QueryView
from streamproof.prove.checkers import Finding, checker, require_decided
from streamproof.prove.checkers.side_rows import compare
from streamproof.prove.checkers.window_contents import SCALARS, equal
from streamproof.prove.checkers.wording import values


class Code(StrEnum):
    """What is found here, beside what `side_rows` finds."""

    OTHER_VALUE = "other-value"


@checker("made-sides")
def made_sides(history: History) -> Iterator[Finding]:
    """Compare the rows of each such output with the model's."""
    for view in history.queries:
        wanted: dict[tuple[str, str], dict[str, tuple[int, Mapping[str, Any]]]] = {}
        for outcome in view.batches:
            for step in outcome.steps.values():
                for side, rows in step.made.items():
                    found = wanted.setdefault(side, {})
                    found |= {trace: (outcome.batch, row.values) for row in rows for trace in row.traces}
        for (kind, name), rows_of in wanted.items():
            output = next((one for one in view.sides(kind) if one.side.name == name), None)
            if output is not None:
                require_decided(view)
                yield from _compared(history, view, output, rows_of)


def _compared(
    history: History, view: QueryView, output: OutputHistory, wanted: Mapping[str, tuple[int, Mapping[str, Any]]]
) -> Iterator[Finding]:
    batches = {trace: batch for trace, (batch, _) in wanted.items()}
    yield from compare(history, view, output, batches, f"a row of {output.name}", lambda _: "the model says so")
    for row in output.rows:
        _, expected = wanted.get(row.trace or "", (0, {}))
        for column, value in expected.items():
            plain = value is None or isinstance(value, SCALARS)
            if plain and not equal(value, row.values.get(column), column, history.expectations):
                shown = list(expected)
                what = f"was delivered in {output.name} with another {column}"
                said = values(expected, shown), values(row.values, shown)
                yield Finding(Code.OTHER_VALUE, row.trace, what, row.batch, *said, row.file)
                break
