"""What is wrong without any fault is said to be so, with what to look for; what only a crash shows is not."""

import pytest

from streamproof.report.explain import explain
from streamproof.report.without_fault import only_rounded

FINDING = {
    "what": "exposure is not what the batch query gives",
    "event": None,
    "batch": 3,
    "how": None,
    "expected": "",
    "found": "",
}


def told(report, check, expected, found, *, mode="fault-free"):
    """What is said of a finding of the first scenario, where that, or another scenario, runs without a fault."""
    finding = {**FINDING, "expected": expected, "found": found}
    failing = {"name": check, "verdict": "fail", "total": 1, "findings": [finding]}
    scenario = {**report["scenarios"][0], "mode": mode, "verdict": "fail", "checks": [failing]}
    return explain({**report, "scenarios": [scenario, *report["scenarios"][1:]]}, scenario).text("no fault")


@pytest.mark.parametrize(
    ("check", "expected", "found", "said"),
    [
        ("window-contents", "c17  exposure 12.50", "c17  exposure 99.10", "look for state outside Spark, or the wall clock"),
        ("window-contents", "c17  avg 23.281488", "c17  avg 23.281487", "look for rounding, of floats whose order differs"),
        ("exactly-once", "one", "two", "look for state outside Spark, or the wall clock"),
        ("expectations", "20", "200", "look for the wall clock, or a lag that is too short"),
        ("state-contents", "a", "b", "look for state outside Spark, for the wall clock, for rounding"),
    ],
)
def test_what_is_there_without_a_fault_says_so_and_what_to_look_for(green, check, expected, found, said):
    assert told(green, check, expected, found) == f"there without any fault: {said}"


def test_what_only_a_crash_shows_says_nothing_of_it(green):
    assert told(green, "window-contents", "1", "2", mode="image") == ""


def test_a_crash_that_shows_what_the_run_without_one_shows_says_so_too(green):
    failing = {"name": "window-contents", "verdict": "fail", "findings": [FINDING]}
    clean = {**green["scenarios"][-1], "mode": "fault-free", "verdict": "fail", "checks": [failing]}
    report = {**green, "scenarios": [*green["scenarios"], clean]}

    assert told(report, "window-contents", "1", "2", mode="image") != ""
    assert told(report, "exactly-once", "1", "2", mode="image") == ""


@pytest.mark.parametrize(
    ("expected", "found", "rounded"),
    [
        ("exposure 48,210.50", "exposure 48,210.49", True),
        ("exposure 48,210.50  trades 31", "exposure 48,210.49  trades 31", True),
        ("exposure 48,210.50  trades 31", "exposure 48,210.50  trades 32", False),
        ("exposure 48,210.50", "exposure 49,905.50", False),
        ("09:01:00", "09:01:01", False),
        ("a 1.5", "b 1.5", False),
        ("same", "same", False),
    ],
)
def test_a_difference_by_rounding_is_told_from_another_value(expected, found, rounded):
    assert only_rounded(expected, found) is rounded
