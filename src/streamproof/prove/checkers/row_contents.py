"""A published row of an event has the values that the job gives it as a batch query (R23)."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from streamproof.prove.artifacts.float_order import only_rounded
from streamproof.prove.artifacts.history import History, OutputRow, QueryView
from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.window_contents import SCALARS, differing, equal
from streamproof.prove.checkers.wording import values

_JSON = (".json", ".jsonl")
_OTHERS = ("main", "rejected", "duplicate")
"""Outputs whose rows are not those of one record that has passed; which copy is a duplicate is not promised. Neither are those that an operator makes."""


class Code(StrEnum):
    """What is found here."""

    OTHER_VALUE = "other-value"
    NO_COLUMN = "no-such-column"


@checker("row-contents")
def row_contents(history: History) -> Iterator[Finding]:
    """Compare the rows of outputs without windows, and those that leave by a side, with the batch query's row of the same trace.

    Of nested values, and of bytes, it is only asked whether they are null: each format writes them in a way of its own. A row of a JSON file
    has every column, null or not (R5): who reads it without a schema takes a column that is nowhere for one that does not exist.
    """
    for view in history.queries:
        if view.bounded.rows is None:
            continue
        if not view.windowed:
            yield from (found for row in view.main.rows for found in _compared(history, view, row))
        made = {side for outcome in view.batches for step in outcome.steps.values() for side in step.made}
        sides = (one for one in view.left.outputs.values() if one.side.kind not in _OTHERS)
        left = (row for one in sides if (one.side.kind, one.side.name) not in made for row in one.rows)
        yield from (found for row in left for found in _compared(history, view, row))


def _is_nothing(value: Any) -> bool:
    """Whether it is null, or an empty list or map: Protobuf has no null for those."""
    return value is None or (isinstance(value, list | tuple | dict) and not value)


def _compared(history: History, view: QueryView, row: OutputRow) -> Iterator[Finding]:
    wanted = (view.bounded.rows or {}).get(row.trace or "")
    if wanted is None:
        return  # a row of no event that passed: exactly-once and late-routing say so
    for column, value in wanted.items():
        found = row.values.get(column)
        if column not in row.values and row.file.endswith(_JSON):
            yield Finding(
                Code.NO_COLUMN,
                row.trace,
                f"was published without its column {column}",
                row.batch,
                f"{column} {value}",
                "no such column",
                row.file,
            )
            return
        if isinstance(value, SCALARS) or history.expectations.compare.get(column) == "ignore":
            agrees = equal(value, found, column, history.expectations)
        else:
            agrees = (value is None) == (found is None) or (_is_nothing(value) and _is_nothing(found))
        if not agrees:
            shown = list(wanted)
            yield Finding(
                Code.OTHER_VALUE,
                row.trace,
                f"was published with another {column} than the batch query gives it",
                row.batch,
                values(wanted, shown),
                values(row.values, shown),
                row.file,
                rounded=only_rounded(
                    differing(
                        wanted, row.values, [name for name in shown if isinstance(wanted[name], SCALARS)], history.expectations
                    )
                ),
            )
            return
