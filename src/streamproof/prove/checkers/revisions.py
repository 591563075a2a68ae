"""Of a window that gives several rows each is there once, from 0 on without a gap, by the batch that gave it, with what the window held then."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from streamproof.prove.artifacts.float_order import only_rounded
from streamproof.prove.artifacts.history import History, OutputRow, QueryView, total
from streamproof.prove.checkers import Finding, checker, require_decided
from streamproof.prove.checkers.window_contents import equal
from streamproof.prove.checkers.wording import events, full_instant, published, values, window
from streamproof.prove.oracle.rows import RowKey
from streamproof.prove.oracle.sketches import Exact
from streamproof.prove.scenario.scenario import Expect


class Code(StrEnum):
    """What is found here."""

    MISSING = "missing-revision"
    SEVERAL_ROWS = "several-rows-of-a-revision"
    NOT_DUE = "no-such-revision"
    WRONG_BATCH = "wrong-batch"
    OTHER_EVENTS = "other-events"
    OTHER_VALUE = "other-value"


@checker("revisions")
def revisions(history: History) -> Iterator[Finding]:
    """Compare every row of a window, not only its last one, with what the model says of the batch that gave it."""
    for view in history.queries:
        if view.windowed and view.grouped.revised:
            require_decided(view)
            yield from _missing(view)
            for key, rows in view.rows_of_windows.items():
                yield from _wrong(view, key, rows, history.expectations)


def _missing(view: QueryView) -> Iterator[Finding]:
    last = view.model.last_rows
    for outcome in view.batches:
        for window_key, revision in outcome.revisions.items():
            replaced = view.table.keeps_last and revision < last[window_key]
            if replaced or (window_key, revision) in view.rows_of_windows:
                continue
            key = window_key, revision
            what = f"revision {revision} of a window has not come"
            expected = f"given by batch {outcome.batch}, whose watermark is {full_instant(outcome.read.watermark_ms * 1_000)}"
            yield Finding(Code.MISSING, None, what, outcome.batch, expected, _others(view, key), None, _named(view, key))


def _wrong(view: QueryView, key: RowKey, rows: Sequence[OutputRow], expect: Expect) -> Iterator[Finding]:
    contents, row, named = view.model.rows.get(key), rows[0], _named(view, key)
    if contents is None:
        what = f"revision {key[1]} of a window was given, and there is no such revision"
        yield Finding(Code.NOT_DUE, None, what, row.batch, "no row", _row(view, row), published(rows), named)
        return
    if len(rows) > 1:
        what = f"revision {key[1]} of a window has {len(rows)} rows"
        yield Finding(Code.SEVERAL_ROWS, None, what, rows[-1].batch, "one row", f"{len(rows)} rows", published(rows), named)
        return
    due = next(outcome.batch for outcome in view.batches if outcome.revisions.get(key[0]) == key[1])
    if row.batch not in (None, due):
        what = f"revision {key[1]} of a window was given by the wrong batch"
        yield Finding(Code.WRONG_BATCH, None, what, row.batch, f"by batch {due}", f"by batch {row.batch}", row.file, named)
    elif total(rows) != contents.vector:
        what = f"revision {key[1]} of a window holds other events than the window held"
        yield Finding(Code.OTHER_EVENTS, None, what, row.batch, events(contents.vector), _row(view, row), row.file, named)
    else:
        yield from _values(view, key, row, expect)


def _values(view: QueryView, key: RowKey, row: OutputRow, expect: Expect) -> Iterator[Finding]:
    wanted = (view.bounded.rows_of_windows or {}).get(key, {})
    for column in view.grouped.aggregates:
        if column not in wanted or expect.compare.get(column) == "ignore":
            continue
        exact, found = wanted[column], row.values.get(column)
        right = exact.takes(found) if isinstance(exact, Exact) else equal(exact, found, column, expect, view.bounded.steps)
        if not right:
            what = f"{column} of revision {key[1]} is not what the batch query gives"
            expected = f"{column} {exact}"
            near, named = only_rounded([(exact, found)]), _named(view, key)
            yield Finding(Code.OTHER_VALUE, None, what, row.batch, expected, _row(view, row), row.file, named, rounded=near)
            return


def _named(view: QueryView, key: RowKey) -> str:
    return f"{window(view.grouped, key[0])}  revision {key[1]}"


def _row(view: QueryView, row: OutputRow) -> str:
    return values(row.values, view.grouped.aggregates) or events(total([row]))


def _others(view: QueryView, key: RowKey) -> str:
    found = sorted(revision for window_key, revision in view.rows_of_windows if window_key == key[0])
    return f"revisions {', '.join(map(str, found))}" if found else "no row of this window"
