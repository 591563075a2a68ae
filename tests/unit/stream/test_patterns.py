"""The patterns on declared state, each pushed some rows, without Spark."""

from datetime import UTC, datetime

import pytest

import streamproof as sp
from streamproof.errors import JobDefinitionError
from streamproof.stream import patterns


def row(minute, second=0, **values):
    return {"card": "a", "ts": f"2026-01-05T09:{minute:02d}:{second:02d}Z", **values}


def at(minute):
    return datetime(2026, 1, 5, 9, minute, tzinfo=UTC)


def trial(steps, lag="1 hour"):
    return sp.OperatorTest(steps, event_time="ts", lag=lag)


def test_velocity_is_a_row_from_the_nth_within_a_duration_on():
    test = trial(lambda rows: patterns.velocity(rows, "card", time="ts", at_least=3, within="10 minutes", columns=["ts"]))

    found = test.push(*(row(minute) for minute in (0, 4, 9, 12, 30, 31, 39, 40)))
    assert [(one["ts"].minute, one["n"]) for one in found.rows] == [(9, 3), (12, 3), (39, 3), (40, 3)]
    assert len(found.sides["absorbed"]) == 4


def test_inactivity_is_a_row_when_nothing_has_come():
    test = trial(lambda rows: patterns.inactivity(rows, "card", time="ts", after="10 minutes"))

    assert test.push(row(0), row(5), row(3)).rows == []
    assert test.advance_to(at(14)).rows == []
    assert test.advance_to(at(15)).rows == [{"card": "a", "last_at": at(5), "silent_at": at(15)}]
    assert test.advance_to(at(40)).rows == []
    assert test.state == {}


def test_running_adds_up():
    test = trial(lambda rows: patterns.running(rows, "card", ttl="never", balance=("0L", "cents"), n=("0L", "1L")))

    found = test.push(row(1, cents=5), row(0, cents=-2), row(2, cents=None))
    assert [(one["balance"], one["n"]) for one in found.rows] == [(-2, 1), (3, 2), (3, 3)]


def test_changes_are_rows_of_another_value():
    test = trial(lambda rows: patterns.changes(rows, "card", "place", starts="CAST(NULL AS STRING)", ttl="1 day"))

    found = test.push(*(row(minute, place=place) for minute, place in enumerate(["x", "x", "y", None, None, "y"])))
    assert [(one["was"], one["now"]) for one in found.rows] == [(None, "x"), ("x", "y"), ("y", None), (None, "y")]


def test_a_sequence_has_its_second_part_in_time_or_is_missing_it():
    test = trial(
        lambda rows: patterns.sequence(rows, "card", time="ts", first="kind = 'ad'", then="kind = 'buy'", within="10 minutes")
    )

    found = test.push(row(0, kind="ad"), row(5, kind="buy"), row(6, kind="buy"), row(20, kind="ad"), row(31, kind="buy"))
    assert found.rows == [{"card": "a", "first_at": at(0), "then_at": at(5)}]
    test = trial(
        lambda rows: patterns.sequence(rows, "card", time="ts", first="kind = 'ad'", then="kind = 'buy'", within="10 minutes")
    )
    test.push(row(20, kind="ad"))
    assert test.advance_to(at(30)).sides == {"tag:missing": [{"card": "a", "first_at": at(20), "missing_at": at(30)}]}
    assert test.state == {}


def test_a_sliding_window_is_over_the_duration_up_to_each_record():
    test = trial(
        lambda rows: patterns.sliding(rows, "card", "v", time="ts", over="10 minutes", lag="10 minutes", at_most=4, columns=["ts"])
    )

    found = test.push(row(0, v=1), row(9, v=3), row(10, v=5), row(19, v=None))
    assert [(one["n"], one["total"], one["least"], one["most"]) for one in found.rows] == [
        (1, 1.0, 1.0, 1.0),
        (2, 4.0, 1.0, 3.0),
        (2, 8.0, 3.0, 5.0),
        (2, 5.0, 5.0, 5.0),
    ]
    assert test.push(row(15, v=7)).rows[0]["n"] == 3
    assert [one["value"]["v"] for one in test.push(row(20, v=1), row(21, v=1)).sides["overflow:recent"]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda rows: patterns.velocity(rows, "card", time="ts", at_least=0, within="1 minute"), "no number of records"),
        (lambda rows: patterns.velocity(rows, "card", time="ts", at_least=2, within="soon"), "is not a duration"),
        (lambda rows: patterns.running(rows, "card", ttl="1 day"), "adds nothing up"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(JobDefinitionError, match=said):
        trial(call)
