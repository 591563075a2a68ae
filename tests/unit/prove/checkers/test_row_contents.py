"""Rows without windows, and late rows, have the values that the batch query gives them."""

from dataclasses import replace
from decimal import Decimal

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import Bounded
from streamproof.prove.scenario.scenario import Expect
from unit.prove.small import ONCE, PLAIN, at, changed, check, faultless, rows_of, with_rows

RECORDS = [[at("e-1", 61), at("e-2", 130)], [at("e-3", 7)], [at("e-4", 131), at("e-5", 8)]]


def test_another_value_is_found_and_named():
    history = faultless(PLAIN, RECORDS)
    first, *others = rows_of(history, "rows")

    result = check("row-contents", with_rows(history, "rows", [changed(first, total=3.0), *others]))

    assert check("row-contents", history).verdict is Verdict.PASS
    assert result.verdict is Verdict.FAIL
    assert result.total == 1
    assert result.findings[0].event == "e-1"
    assert "another total" in result.findings[0].what
    assert not result.findings[0].rounded


def test_a_value_that_is_nearly_right_is_marked_as_one_that_rounding_may_have_made():
    history = faultless(PLAIN, RECORDS)
    first, *others = rows_of(history, "rows")
    nearly = with_rows(history, "rows", [changed(first, total=first.values["total"] * 1.0001), *others])
    wanted = {first.trace: {**history.queries[0].bounded.rows[first.trace], "n": 1}}
    whole_too = replace(nearly, queries=[replace(nearly.queries[0], bounded=Bounded(rows=wanted))])

    assert [finding.rounded for finding in check("row-contents", nearly).findings] == [True]
    assert [finding.rounded for finding in check("row-contents", whole_too).findings] == [False]


@pytest.mark.parametrize(
    ("wanted", "published", "verdict"),
    [
        (None, None, Verdict.PASS),
        (None, 0, Verdict.FAIL),
        (None, "", Verdict.FAIL),
        ([1], None, Verdict.FAIL),
        ([1], "[1]", Verdict.PASS),  # as Redis has it
        (None, [], Verdict.PASS),  # as Protobuf has it
        (Decimal("1.20"), "1.20", Verdict.PASS),
        (Decimal("1.20"), "1.21", Verdict.FAIL),
        (float("nan"), "NaN", Verdict.PASS),
        (1.5, "1.5", Verdict.FAIL),
        (1e307, None, Verdict.FAIL),
        ((None, None), {}, Verdict.PASS),  # a struct without values, as Redis has it
        (float("inf"), "-Infinity", Verdict.FAIL),
    ],
)
def test_a_null_stays_one_and_nothing_else_becomes_one(wanted, published, verdict):
    history = faultless(PLAIN, RECORDS)
    first = rows_of(history, "rows")[0]
    asked = {first.trace: {**history.queries[0].bounded.rows[first.trace], "more": wanted}}
    history = replace(history, queries=[replace(history.queries[0], bounded=Bounded(rows=asked))])

    assert check("row-contents", with_rows(history, "rows", [changed(first, more=published)])).verdict is verdict


@pytest.mark.parametrize(("file", "verdict"), [("batch=000001/a.json", Verdict.FAIL), ("a topic", Verdict.PASS)])
def test_r5_a_row_of_a_json_file_has_its_columns_that_are_null(file, verdict):
    history = faultless(PLAIN, RECORDS)
    first = replace(rows_of(history, "rows")[0], file=file)
    asked = {first.trace: {**history.queries[0].bounded.rows[first.trace], "more": None}}
    history = replace(history, queries=[replace(history.queries[0], bounded=Bounded(rows=asked))])

    assert check("row-contents", with_rows(history, "rows", [changed(first, more=None)])).verdict is Verdict.PASS
    assert check("row-contents", with_rows(history, "rows", [first])).verdict is verdict


def test_a_late_row_with_another_value_is_found():
    history = faultless(ONCE, RECORDS)
    first, *others = rows_of(history, "late")

    assert check("row-contents", history).verdict is Verdict.PASS
    assert check("row-contents", with_rows(history, "late", [changed(first, total=None), *others])).verdict is Verdict.FAIL


def test_an_instant_in_json_is_compared_as_an_instant():
    history = faultless(PLAIN, RECORDS)
    first = rows_of(history, "rows")[0]
    asked = {first.trace: {**history.queries[0].bounded.rows[first.trace], "ts": 61_000_000}}
    history = replace(history, queries=[replace(history.queries[0], bounded=Bounded(rows=asked))])

    assert check("row-contents", with_rows(history, "rows", [changed(first, ts="1970-01-01T00:01:01Z")])).verdict is Verdict.PASS
    assert check("row-contents", with_rows(history, "rows", [changed(first, ts="1970-01-01T00:01:02Z")])).verdict is Verdict.FAIL


def test_without_a_batch_query_nothing_is_compared():
    history = faultless(PLAIN, RECORDS)
    view = replace(history.queries[0], bounded=Bounded())
    first, *others = rows_of(history, "rows")

    assert (
        check("row-contents", with_rows(replace(history, queries=[view]), "rows", [changed(first, total=3.0), *others])).verdict
        is Verdict.PASS
    )


def test_a_column_that_the_scenario_leaves_out_is_not_compared():
    history = replace(faultless(PLAIN, RECORDS), expectations=Expect(compare={"total": "ignore"}))
    first, *others = rows_of(history, "rows")

    assert check("row-contents", with_rows(history, "rows", [changed(first, total=3.0), *others])).verdict is Verdict.PASS
