"""The twin of deduplication by an order, and the checkers on what it says."""

from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.checkers import run_checkers
from streamproof.prove.oracle.trace import Vector
from unit.prove.small import (
    DEDUPLICATED,
    SECOND,
    at,
    changed,
    check,
    faultless,
    having,
    held_by,
    model_of,
    only_finding,
    open_in,
    rows_of,
    with_held,
    with_left,
    with_rows,
)

LAST = replace(DEDUPLICATED, within_us=20 * SECOND, order_by="version", keep="last")
FIRST = replace(LAST, keep="first")


def versioned(trace, second, version):
    return having(at(trace, second), version=version)


VERSIONS = [
    [versioned("e-1", 100, 2), versioned("e-1+1", 101, 3), versioned("e-2", 102, None)],
    [versioned("e-1+2", 120, 1), versioned("e-2+1", 104, 7), versioned("e-3", 150, 1)],
    [versioned("e-4", 200, 1), versioned("e-4+1", 199, 1)],
    [versioned("e-5", 90, 1)],
]
"""The watermark is 10 seconds behind: e-1 and e-2 are over in the third batch, e-4 waits; e-5 is late in the fourth, by the bound of 190."""


def kept(shape, batches=VERSIONS, **options):
    return [outcome.kept for outcome in model_of(shape, batches, **options).batches]


def test_the_row_that_stays_comes_when_no_other_can():
    assert kept(LAST) == [(), (), ("e-1+1", "e-2+1"), ("e-3",)]
    assert kept(FIRST) == [(), (), ("e-1+2", "e-2+1"), ("e-3",)], "a row without an order only stays where no other has one"


def test_the_account_has_those_that_wait_and_the_others_once_it_is_decided():
    model = model_of(LAST, VERSIONS)

    assert {place: vector.count for place, vector in model.places.items() if vector.count} == {
        "input": 9,
        "emitted": 3,
        "open_state": 2,
        "late": 1,
        "duplicate": 3,
    }
    assert model.fates["e-1+1"] == ("emitted", 0)
    assert model.fates["e-1"] == ("duplicate", 0)
    assert model.fates["e-4"] == ("open_state", 2)
    assert [contents.traces for contents in open_in(model).values()] == [("e-4", "e-4+1")]


@pytest.mark.parametrize(("apart", "stay"), [(20, ("e-1+1",)), (20.001, ("e-1", "e-1+1"))])
def test_rows_a_horizon_apart_are_one_and_a_tick_more_are_two(apart, stay):
    batches = [[versioned("e-1", 100, 1), versioned("e-1+1", 100 + apart, 2)], [versioned("e-9", 300, 1)]]

    assert sorted(trace for traces in kept(LAST, batches, no_data=1) for trace in traces if trace != "e-9") == sorted(stay)


def test_of_equal_orders_the_time_decides_and_of_other_events_with_one_time_nothing_is_promised():
    equal = [[versioned("e-1", 101, 1), versioned("e-1+1", 100, 1)], [versioned("e-9", 300, 1)]]
    assert kept(LAST, equal, no_data=1)[1:] == [(), ("e-1",)]
    assert kept(FIRST, equal, no_data=1)[1:] == [(), ("e-1+1",)]

    rivals = [[versioned("e-1", 100, 1), having(versioned("e-2", 100, 1), id="e-1")], [versioned("e-9", 300, 1)]]
    assert model_of(LAST, rivals, no_data=1).ambiguous == (("e-1",),)
    assert model_of(LAST, equal, no_data=1).ambiguous == ()


def test_nan_is_the_greatest_number():
    batches = [[versioned("e-1", 100, float("nan")), versioned("e-1+1", 101, 5.0)], [versioned("e-9", 300, 1.0)]]

    assert kept(LAST, batches, no_data=1)[2] == ("e-1",)
    assert kept(FIRST, batches, no_data=1)[2] == ("e-1+1",)


def test_a_faultless_history_passes_every_checker():
    results = run_checkers(faultless(LAST, VERSIONS))

    assert [(result.name, result.verdict, result.findings) for result in results if result.verdict is not Verdict.PASS] == []


def test_another_copy_than_the_one_that_must_stay_is_found():
    history = faultless(LAST, VERSIONS)
    rows = [changed(row, _trace="e-1") if row.trace == "e-1+1" else row for row in rows_of(history, "totals")]

    result = check("exactly-once", with_rows(history, "totals", rows))

    assert [(finding.code, finding.event) for finding in result.findings] == [("lost", "e-1+1"), ("unexpected", "e-1")]


def test_a_state_that_holds_another_number_of_rows_is_found():
    history = faultless(LAST, VERSIONS)
    left = history.queries[0].left
    windows = held_by(left.state).groups
    (key,) = windows
    held = with_held(left.state, groups={key: Vector(1, windows[key].hash // 2)})

    finding = only_finding("state-contents", with_left(history, replace(left, state=held)))

    assert finding.code == "missing"
    assert check("account", with_left(history, replace(left, state=held))).verdict is Verdict.FAIL
