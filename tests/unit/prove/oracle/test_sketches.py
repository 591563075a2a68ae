"""What lies within the stated error of an exact answer, and what does not."""

from decimal import Decimal

import pytest

from streamproof.prove.oracle.sketches import exact_of
from streamproof.stream.aggregates import sketch

HUNDRED = [float(value) for value in range(1, 101)]


@pytest.mark.parametrize(
    ("found", "within"),
    [(95.0, True), (89.0, True), (100.0, True), (88.0, False), (95.5, False), (Decimal(95), True), ("95.0", True), (None, False)],
)
def test_a_percentile_is_a_value_whose_rank_is_near(found, within):
    exact = exact_of(sketch.percentiles("ms", p95=0.95, error=0.05)["p95"], list(reversed(HUNDRED)))

    assert exact.takes(found) is within
    assert str(exact) == "95.0 (89.0 to 100.0 would do: ranks 89 to 100 of 100)"


def test_a_percentile_of_few_values_may_be_one_rank_off_and_of_none_is_null():
    p50 = sketch.percentiles("ms", p50=0.5)["p50"]

    assert [value for value in (1, 2, 3, 4, 5) if exact_of(p50, [5, 4, 3, 2, 1]).takes(value)] == [2, 3, 4]
    assert exact_of(p50, [None]).takes(None)
    assert not exact_of(p50, [None]).takes(0.0)


@pytest.mark.parametrize(
    ("different", "found", "within"),
    [
        (100, 110, True),
        (100, 111, False),
        (100, 90, True),
        (100, 89, False),
        (3, 4, True),
        (3, 5, False),
        (0, 0, True),
        (0, 1, False),
    ],
)
def test_a_distinct_count_is_near(different, found, within):
    values = [f"u{number}" for number in range(different)] * 2

    assert exact_of(sketch.distinct("user", error=0.1), [*values, None]).takes(found) is within


@pytest.mark.parametrize(
    ("found", "within"),
    [
        ([{"item": "a", "count": 60}, {"item": "b", "count": 30}], True),
        ([("a", 55), ("b", 30)], True),
        ([{"item": "a", "count": 60}, {"item": "c", "count": 30}], False),
        ([{"item": "a", "count": 54}, {"item": "b", "count": 30}], False),
        ([{"item": "b", "count": 30}, {"item": "a", "count": 60}], False),
        ([{"item": "a", "count": 60}], False),
        ([{"item": "a", "count": 60}, {"item": "a", "count": 60}], False),
        ([{"item": "a", "count": 60}, {"item": "b", "count": 30}, {"item": None, "count": 8}], False),
        ([{"item": "a"}], False),
        ("a", False),
    ],
)
def test_the_most_frequent_values_have_counts_that_are_near_and_leave_nothing_frequent_out(found, within):
    values = ["a"] * 60 + ["b"] * 30 + [None] * 8 + ["c"] * 2

    assert exact_of(sketch.top_k("path", 2, error=0.05), values).takes(found) is within


def test_what_is_left_out_of_a_short_list_came_seldom():
    exact = exact_of(sketch.top_k("path", 3, error=0.05), ["a"] * 90 + ["b"] * 5 + ["c"] * 5)

    assert exact.takes([("a", 90)])
    assert not exact_of(sketch.top_k("path", 3, error=0.04), ["a"] * 90 + ["b"] * 5 + ["c"] * 5).takes([("a", 90)])
