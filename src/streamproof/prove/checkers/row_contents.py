"""Rows hold what they must: what is published of an event has the values that the job gives it as a batch query (R23)."""

from collections.abc import Iterator
from decimal import Decimal

from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.window_contents import equal
from streamproof.prove.checkers.wording import values
from streamproof.prove.history import History, OutputRow, QueryView
from streamproof.prove.row_files import instant_of

_SCALARS = (str, int, float, Decimal)


@checker("row-contents")
def row_contents(history: History) -> Iterator[Finding]:
    """Compare the rows of outputs without windows, and late rows, with the batch query's row of the same trace.

    Nested values, and null ones, are left aside.
    """
    for view in history.queries:
        if view.rows is None:
            continue
        if not view.windowed:
            yield from (found for row in view.main.rows for found in _compared(history, view, row))
        late = view.side("late")
        yield from (found for row in (late.rows if late else ()) for found in _compared(history, view, row))


def _compared(history: History, view: QueryView, row: OutputRow) -> Iterator[Finding]:
    wanted = (view.rows or {}).get(row.trace or "")
    if wanted is None:
        return  # a row of no event that passed: exactly-once and late-routing say so
    for column, value in wanted.items():
        found = row.values.get(column)
        if not isinstance(value, _SCALARS):
            continue
        if isinstance(value, int) and isinstance(found, str):
            found = instant_of(found)  # JSON holds instants as text
        if not equal(value, found, column, history.expectations):
            shown = list(wanted)
            yield Finding(
                row.trace,
                f"was published with another {column} than the batch query gives it",
                row.batch,
                values(wanted, shown),
                values(row.values, shown),
                row.file,
            )
            return
