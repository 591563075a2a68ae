"""What is wrong without any fault is said to be so, with what to look for; what only a crash shows is not."""

import pytest

from streamproof.report.explain import explain

FINDING = {
    "what": "exposure is not what the batch query gives",
    "event": None,
    "batch": 3,
    "how": None,
    "expected": "",
    "found": "",
}


def told(report, check, *, mode="fault-free", **more):
    """What is said of a finding of the first scenario, where that, or another scenario, runs without a fault."""
    finding = {**FINDING, "expected": "1", "found": "2", **more}
    failing = {"name": check, "verdict": "fail", "total": 1, "findings": [finding]}
    scenario = {**report["scenarios"][0], "mode": mode, "verdict": "fail", "checks": [failing]}
    return explain({**report, "scenarios": [scenario, *report["scenarios"][1:]]}, scenario).text("no fault")


@pytest.mark.parametrize(
    ("check", "more", "said"),
    [
        ("window-contents", {}, "look for state outside Spark, or the wall clock"),
        ("window-contents", {"rounded": True}, "look for rounding, of floats whose order differs"),
        ("exactly-once", {}, "look for state outside Spark, or the wall clock"),
        ("expectations", {}, "look for the wall clock, or a delay that is too short"),
        ("state-contents", {}, "look for state outside Spark, for the wall clock, for rounding"),
    ],
)
def test_what_is_there_without_a_fault_says_so_and_what_to_look_for(green, check, more, said):
    assert told(green, check, **more) == f"there without any fault: {said}"


def test_the_words_of_a_finding_decide_nothing(green):
    """Sides that read as if rounding had made them differ: the checker knows the values, the report only the words."""
    said = told(green, "window-contents", expected="exposure 48,210.50", found="exposure 48,210.49")

    assert said == "there without any fault: look for state outside Spark, or the wall clock"


def test_what_only_a_crash_shows_says_nothing_of_it(green):
    assert told(green, "window-contents", mode="image") == ""


def test_a_crash_that_shows_what_the_run_without_one_shows_says_so_too(green):
    failing = {"name": "window-contents", "verdict": "fail", "findings": [FINDING]}
    clean = {**green["scenarios"][-1], "mode": "fault-free", "verdict": "fail", "checks": [failing]}
    report = {**green, "scenarios": [*green["scenarios"], clean]}

    assert told(report, "window-contents", mode="image") != ""
    assert told(report, "exactly-once", mode="image") == ""
