"""Rows that a deduplication drops are in the duplicates output, where there is one."""

from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import OutputRow
from unit.prove.small import (
    DEDUPLICATED,
    FILE,
    ONCE,
    RECORDS,
    at,
    changed,
    check,
    faultless,
    only_finding,
    rows_of,
    with_left,
    with_rows,
)

TWICE = [[*RECORDS[0], at("e-2+1", 62), at("e-1+2", 61)], *RECORDS[1:]]
"""Of e-1 two copies are dropped in batch 0, of e-2 one."""


@pytest.fixture(params=[ONCE, DEDUPLICATED], ids=["windows", "rows"])
def history(request):
    return faultless(request.param, TWICE)


def of(history, trace):
    return next(row for row in rows_of(history, "again") if row.trace == trace)


def test_r14_every_dropped_copy_once_is_right_whichever_of_them_stays(history):
    assert [row.trace for row in rows_of(history, "again")] == ["e-1+1", "e-2+1", "e-1+2"]
    assert check("duplicate-routing", history).verdict is Verdict.PASS

    of_other = [changed(row, _trace="e-1") if row.trace == "e-1+2" else row for row in rows_of(history, "again")]
    main = [changed(row, _trace="e-1+2") if row.trace == "e-1" else row for row in rows_of(history, history.queries[0].main.name)]
    other = with_rows(with_rows(history, "again", of_other), history.queries[0].main.name, main)
    assert check("duplicate-routing", other).verdict is Verdict.PASS


def test_r14_a_dropped_copy_that_was_not_delivered_is_found(history):
    finding = only_finding("duplicate-routing", with_rows(history, "again", rows_of(history, "again")[:-1]))

    assert (finding.code, finding.event, finding.batch) == ("not-delivered", "e-1", 0)
    assert finding.what == "has a copy that was dropped and was not delivered in again"
    assert (finding.expected, finding.found) == ("2 rows", "one row")


def test_r14_a_copy_that_was_delivered_twice_does_not_stand_for_another_one(history):
    rows = [row for row in rows_of(history, "again") if row.trace != "e-1+2"]
    result = check("duplicate-routing", with_rows(history, "again", [*rows, replace(of(history, "e-1+1"), file=FILE)]))

    assert [(finding.code, finding.event) for finding in result.findings] == [
        ("delivered-again", "e-1+1"),
        ("not-delivered", "e-1"),
    ]


def test_r14_a_row_that_is_no_duplicate_is_found(history):
    finding = only_finding(
        "duplicate-routing", with_rows(history, "again", [*rows_of(history, "again"), OutputRow(1, FILE, {"_trace": "e-5+1"})])
    )

    assert (finding.code, finding.event, finding.batch) == ("wrongly-delivered", "e-5", 1)


def test_r14_a_row_that_stays_and_is_delivered_as_a_duplicate_too_is_found():
    history = faultless(DEDUPLICATED, TWICE)
    rows = [changed(row, _trace="e-2") if row.trace == "e-2+1" else row for row in rows_of(history, "again")]

    finding = only_finding("duplicate-routing", with_rows(history, "again", rows))

    assert (finding.code, finding.event, finding.what) == (
        "wrongly-delivered",
        "e-2",
        "was delivered in again and is in rows too".replace("rows", "totals"),
    )


def test_r14_a_copy_that_another_batch_has_delivered_is_found(history):
    rows = [replace(row, batch=2) if row.trace == "e-2+1" else row for row in rows_of(history, "again")]

    finding = only_finding("duplicate-routing", with_rows(history, "again", rows))

    assert (finding.code, finding.event) == ("wrong-batch", "e-2")
    assert (finding.expected, finding.found) == ("by batch 0", "by batch 2")


def test_r15_the_account_counts_the_copies_that_are_there(history):
    assert check("account", history).verdict is Verdict.PASS

    finding = only_finding("account", with_rows(history, "again", rows_of(history, "again")[:-1]))

    assert (finding.code, finding.event) == ("in-no-place", "e-1")


def test_a_job_that_only_counts_duplicates_is_not_held_to_an_output(history):
    left = history.queries[0].left
    counted = with_left(history, replace(left, outputs={name: output for name, output in left.outputs.items() if name != "again"}))

    assert check("duplicate-routing", counted).verdict is Verdict.PASS
    assert check("account", counted).verdict is Verdict.PASS
