"""Of a window that gives several rows each is there once, by its batch, with what the window held then."""

from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import AsTable
from streamproof.prove.oracle.expectation import Expectation
from unit.prove.small import (
    CORRECTED,
    EARLY,
    FILE,
    SECOND,
    at,
    changed,
    check,
    faultless,
    model_of,
    only_finding,
    rows_of,
    with_rows,
)

RECORDS = [
    [at("e-1", 61), at("e-2", 62), at("e-3", 63, "b")],
    [at("e-4", 101)],
    [at("e-5", 64), at("e-6", 130)],
    [at("e-7", 66), at("e-8", 67), at("e-9", 131)],
]
"""The windows of 60 to 90 are on time in batch 2; two of the batches after change that of client a."""


@pytest.fixture(params=[EARLY, CORRECTED], ids=["early", "corrections"])
def history(request):
    return faultless(request.param, RECORDS)


def given(model: Expectation) -> list[tuple[int, str, int, int, int]]:
    """Batch, client, start, revision and count of every row."""
    return sorted(
        (outcome.batch, by[0], start // SECOND, outcome.revisions[by, start], contents.count)
        for outcome in model.batches
        for (by, start), contents in outcome.emitted.items()
    )


def test_the_model_of_early_rows_gives_what_a_batch_has_changed():
    model = model_of(EARLY, RECORDS)

    assert given(model) == [
        (0, "a", 60, 0, 2),
        (0, "b", 60, 0, 1),
        (1, "a", 90, 0, 1),
        (2, "a", 60, 1, 3),
        (2, "a", 120, 0, 1),
        (3, "a", 120, 1, 2),
    ]
    assert [outcome.out.emitted for outcome in model.batches] == [3, 1, 2, 1]
    assert (model.account.emitted, model.account.open_state, model.account.late) == (7, 0, 2)


def test_the_model_of_corrections_gives_a_window_on_time_and_once_for_each_batch_that_changes_it():
    model = model_of(CORRECTED, RECORDS)

    assert given(model) == [(2, "a", 60, 0, 3), (2, "b", 60, 0, 1), (3, "a", 60, 1, 5), (3, "a", 90, 0, 1)]
    assert [outcome.out.emitted for outcome in model.batches] == [0, 0, 4, 3]
    assert (model.account.emitted, model.account.open_state, model.account.late) == (7, 2, 0)
    assert {key: last for key, last in model.last_rows.items() if last} == {(("a",), 60 * SECOND): 1}


def test_a_window_that_only_gets_late_records_begins_with_revision_0():
    model = model_of(CORRECTED, [[at("e-1", 130)], [], [at("e-2", 62)], [at("e-3", 63), at("e-4", 64)]])

    assert given(model) == [(2, "a", 60, 0, 1), (3, "a", 60, 1, 3)]


def test_a_revision_that_is_missing_is_found(history):
    rows = rows_of(history, "totals")
    first = next(
        row
        for row in rows
        if any(row.values["window_start"] == other.values["window_start"] and other.values["revision"] for other in rows)
    )

    finding = only_finding("revisions", with_rows(history, "totals", [row for row in rows if row is not first]))

    assert (finding.code, finding.what) == ("missing-revision", "revision 0 of a window has not come")
    assert finding.found == "revisions 1"


def test_in_a_table_only_the_last_revision_is_wanted(history):
    view = history.queries[0]
    last = [rows[0] for rows in view.windows.values()]
    table = replace(history, queries=[replace(view, table=AsTable(keeps_last=True))])

    assert check("revisions", with_rows(table, "totals", last)).verdict is Verdict.PASS
    assert check("revisions", with_rows(history, "totals", last)).verdict is Verdict.FAIL
    older = [row for row in rows_of(history, "totals") if row.values["revision"] == 0]
    assert check("revisions", with_rows(table, "totals", older)).findings[0].code == "missing-revision"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"total": 0.25}, "other-value"),
        ({"_records": 1, "_trace_hash": 5}, "other-events"),
        ({"revision": 7}, "no-such-revision"),
    ],
)
def test_an_earlier_row_with_something_else_in_it_is_found(history, change, code):
    rows = rows_of(history, "totals")
    number = next(number for number, row in enumerate(rows) if row.values["revision"] == 0 and row.values["_records"] > 1)
    rows[number] = changed(rows[number], **change)

    result = check("revisions", with_rows(history, "totals", rows))

    assert code in {finding.code for finding in result.findings}
    assert not any(finding.rounded for finding in result.findings)


def test_a_revision_that_is_nearly_right_is_marked_as_one_that_rounding_may_have_made(history):
    rows = rows_of(history, "totals")
    rows[0] = changed(rows[0], total=rows[0].values["total"] * 1.0001)

    (finding,) = check("revisions", with_rows(history, "totals", rows)).findings

    assert (finding.code, finding.rounded) == ("other-value", True)


def test_a_revision_of_the_wrong_batch_and_one_that_is_there_twice_are_found(history):
    rows = rows_of(history, "totals")

    late = only_finding("revisions", with_rows(history, "totals", [replace(rows[0], batch=9, file=FILE), *rows[1:]]))
    twice = only_finding("revisions", with_rows(history, "totals", [*rows, replace(rows[0], file=FILE)]))

    assert (late.code, twice.code) == ("wrong-batch", "several-rows-of-a-revision")
