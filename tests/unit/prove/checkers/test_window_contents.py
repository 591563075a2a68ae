"""Windows are emitted once, by the right batch, with the right values."""

from dataclasses import replace
from decimal import Decimal
from math import inf

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import Bounded, Handwritten
from streamproof.prove.checkers.window_contents import equal
from streamproof.prove.oracle.sketches import ExactDistinct
from streamproof.prove.scenario.scenario import Expect
from unit.prove.small import FILE, changed, check, only_finding, rows_of, with_rows


def test_a_window_emitted_by_the_wrong_batch_is_found(once):
    rows = rows_of(once, "totals")
    rows[0] = replace(rows[0], batch=3, file=FILE)

    finding = only_finding("window-contents", with_rows(once, "totals", rows))

    assert (finding.what, finding.expected, finding.found) == (
        "a window was emitted by the wrong batch",
        "by batch 2",
        "by batch 3",
    )


def test_r23_a_value_that_is_not_the_batch_querys_is_found(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], total=rows[0].values["total"] + 0.01)
    history = with_rows(once, "totals", rows)

    both = check("window-contents", history)

    assert [finding.what for finding in both.findings] == [
        "total is not what the batch query gives",
        "total is not what the hand-written model gives",
    ]
    assert not any(finding.rounded for finding in both.findings)


def test_a_value_that_is_nearly_right_is_marked_as_one_that_rounding_may_have_made(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], total=rows[0].values["total"] * 1.0001)

    findings = check("window-contents", with_rows(once, "totals", rows)).findings

    assert [finding.rounded for finding in findings] == [True, True]
    assert findings[0].as_dict()["rounded"] is True


def test_a_column_that_a_transform_has_made_of_the_aggregates_is_compared_too(once):
    view, rows = once.queries[0], rows_of(once, "totals")
    doubled = {key: {"twice": 2.0, "window_start": key[1]} for key in view.bounded.windows}
    history = replace(once, queries=[replace(view, bounded=replace(view.bounded, windows=doubled), handwritten=Handwritten())])

    right = with_rows(history, "totals", [changed(row, twice=2.0) for row in rows])
    wrong = with_rows(history, "totals", [changed(row, twice=3.0) for row in rows])

    assert check("window-contents", right).verdict is Verdict.PASS
    assert check("window-contents", wrong).findings[0].what == "twice is not what the batch query gives"
    assert check("window-contents", history).verdict is Verdict.FAIL, "the column is not there"


def test_sums_within_the_tolerance_are_equal(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], total=rows[0].values["total"] * (1 + 1e-12))
    history = with_rows(once, "totals", rows)

    assert check("window-contents", history).verdict is Verdict.PASS
    exact = replace(history, expectations=Expect(compare={"total": "exact"}))
    assert check("window-contents", exact).verdict is Verdict.FAIL


def test_lists_are_compared_as_sets_where_the_scenario_says_so(once):
    view, rows = once.queries[0], [changed(row, total=(2, 1)) for row in rows_of(once, "totals")]
    values = {key: {"total": [1, 2]} for key in view.model.emitted}
    history = with_rows(
        replace(once, queries=[replace(view, bounded=replace(view.bounded, windows=values), handwritten=Handwritten())]),
        "totals",
        rows,
    )

    assert check("window-contents", history).verdict is Verdict.FAIL
    assert check("window-contents", replace(history, expectations=Expect(compare={"total": "set"}))).verdict is Verdict.PASS


def test_a_window_that_the_hand_written_model_does_not_have_is_found(once):
    view = once.queries[0]
    fewer = dict(list(view.handwritten.windows.items())[1:])

    finding = only_finding("window-contents", replace(once, queries=[replace(view, handwritten=Handwritten(fewer))]))

    assert finding.what == "the hand-written model has no such window"


def test_values_that_nothing_was_compared_with_are_unknown(once):
    view = replace(once.queries[0], bounded=Bounded(), handwritten=Handwritten())

    assert check("window-contents", replace(once, queries=[view])).verdict is Verdict.UNKNOWN


def test_a_window_with_other_events_is_found(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], _records=9)

    assert only_finding("window-contents", with_rows(once, "totals", rows)).what == "a window holds other events than it must"


def with_means(once, mean, steps):
    """The history of a run that published 23.281487 for the first window, where both computations give `mean`."""
    view, rows = once.queries[0], rows_of(once, "totals")
    given = {key: {"total": mean} for key in view.bounded.windows}
    published = [changed(row, total=mean) for row in rows]
    history = replace(
        once, queries=[replace(view, bounded=replace(view.bounded, windows=given, steps=steps), handwritten=Handwritten(given))]
    )
    return with_rows(history, "totals", [changed(rows[0], total=23.281487), *published[1:]])


@pytest.mark.parametrize(
    ("mean", "steps", "passes"),
    [
        (23.281488, {"total": 1e-6}, True),  # round(avg(x), 6), with the floats added in another order
        (23.281489, {"total": 1e-6}, False),
        (23.281488, {}, False),
        (23.281488, {"total": 0.0}, False),
        (23.281488, {"other": 1e-6}, False),
    ],
)
def test_a_rounded_mean_may_come_out_one_step_apart(once, mean, steps, passes):
    found = check("window-contents", with_means(once, mean, steps))

    assert (found.verdict is Verdict.PASS) is passes


@pytest.mark.parametrize("way", ["exact", "tolerance"])
def test_what_the_scenario_says_of_a_column_wins_over_its_step(once, way):
    history = replace(with_means(once, 23.281488, {"total": 1e-6}), expectations=Expect(compare={"total": way}))

    assert check("window-contents", history).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("wanted", "found", "step", "alike"),
    [
        (23, 24, 1.0, True),
        (23, 25, 1.0, False),
        (23, 24, None, False),
        (Decimal("23.28"), Decimal("23.29"), 0.01, True),
        (Decimal("23.28"), "23.29", 0.01, True),
        (Decimal("23.28"), Decimal("23.30"), 0.01, False),
        (None, 24, 1.0, False),
        ("high", "low", inf, True),
        ("high", "low", None, False),
    ],
)
def test_what_is_made_of_a_mean_is_compared_by_its_step(wanted, found, step, alike):
    assert equal(wanted, found, "x", Expect(), {} if step is None else {"x": step}) is alike


def test_what_cannot_be_compared_is_compared_where_the_scenario_says_so():
    assert not equal("high", "low", "x", Expect(compare={"x": "exact"}), {"x": inf})


def test_the_end_of_a_window_is_compared_too(once):
    view = once.queries[0]
    expected = {key: {**row, "window_end": view.model.emitted[key].end_us} for key, row in view.bounded.windows.items()}
    history = replace(once, queries=[replace(view, bounded=replace(view.bounded, windows=expected), handwritten=Handwritten())])
    assert check("window-contents", history).verdict is Verdict.PASS

    rows = rows_of(history, "totals")
    wrong = replace(rows[0], values={**rows[0].values, "window_end": rows[0].values["window_start"]})

    finding = only_finding("window-contents", with_rows(history, "totals", [wrong, *rows[1:]]))

    assert finding.what == "window_end is not what the batch query gives"


@pytest.mark.parametrize(("off", "verdict"), [(0.0, Verdict.PASS), (0.05, Verdict.PASS), (0.2, Verdict.FAIL)])
def test_r23_a_sketch_beyond_its_stated_error_is_found(once, off, verdict):
    view, rows = once.queries[0], rows_of(once, "totals")
    stated = {key: {**values, "total": ExactDistinct(200, 0.1)} for key, values in view.bounded.windows.items()}
    history = replace(once, queries=[replace(view, bounded=replace(view.bounded, windows=stated), handwritten=Handwritten())])

    found = check("window-contents", with_rows(history, "totals", [changed(row, total=round(200 * (1 + off))) for row in rows]))

    assert found.verdict is verdict
    assert {finding.code for finding in found.findings} <= {"beyond-stated-error"}


def test_r23_a_hand_written_answer_must_be_within_the_stated_error_too(once):
    view, rows = once.queries[0], rows_of(once, "totals")
    stated = {key: {**values, "total": ExactDistinct(200, 0.1)} for key, values in view.bounded.windows.items()}
    by_hand = {key: {**values, "total": 300} for key, values in view.bounded.windows.items()}
    history = replace(
        once, queries=[replace(view, bounded=replace(view.bounded, windows=stated), handwritten=Handwritten(by_hand))]
    )

    found = check("window-contents", with_rows(history, "totals", [changed(row, total=200) for row in rows]))

    assert {finding.what for finding in found.findings} == {
        "total lies beyond its stated error of what the hand-written model gives"
    }
