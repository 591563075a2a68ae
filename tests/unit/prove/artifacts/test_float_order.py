"""What depends on the order of floats is alike within its step; what could be anything is named."""

from decimal import Decimal
from math import inf, nan

import pytest

from streamproof.prove.artifacts.float_order import alike, not_compared, only_rounded

TOLERANCE = 1e-9


@pytest.mark.parametrize(
    ("one", "other", "step", "expected"),
    [
        (23.281488, 23.281487, 1e-6, True),
        (23.281489, 23.281487, 1e-6, False),
        (23.281488, 23.281487, 0.0, False),
        (1e12 + 1e-4, 1e12, 1e-6, True),  # the last digits of so great a sum are more than a step
        (nan, nan, 1e-6, True),
        (nan, 1.0, 1e-6, False),
        (None, 1.0, 1e-6, False),
        (None, None, 1e-6, True),
        (inf, inf, 1e-6, True),
    ],
)
def test_one_step_apart_is_alike_and_two_are_not(one, other, step, expected):
    assert alike(one, other, step, TOLERANCE) is expected
    assert alike(other, one, step, TOLERANCE) is expected


def test_a_column_that_could_be_anything_is_named_unless_the_scenario_says_how_it_is_compared():
    steps = {"mean": 1e-6, "total": 0.0, "level": inf, "label": inf}

    (found,) = not_compared("totals", steps, {"label": "ignore"})

    assert found.as_dict()["code"] == "depends-on-float-order"
    assert found.name == "totals.level"
    assert '[expect] compare = { level = "exact" }' in found.says


@pytest.mark.parametrize(
    ("pairs", "rounded"),
    [
        ([(48_210.50, 48_210.49)], True),
        ([(Decimal("48210.50"), 48_210.49)], True),
        ([(Decimal("48210.50"), "48210.49")], True),  # as a store has it that keeps decimals as texts
        ([(48_210.50, 49_905.50)], False),
        ([(48_210.50, 48_210.49), (31, 32)], False),
        ([(10_000, 10_001)], False),
        ([(10_000, 10_000.5)], True),
        ([("a", "b")], False),
        ([(1.5, None)], False),
        ([], False),
    ],
)
def test_a_difference_by_rounding_is_told_from_another_value(pairs, rounded):
    assert only_rounded(pairs) is rounded
