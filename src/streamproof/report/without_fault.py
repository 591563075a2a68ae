"""A finding that is there without any fault: that no crash is its cause, and what to look for instead."""

import math
import re

from streamproof.report.shape import FindingEntry, Report, ScenarioEntry

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NEAR = 1e-3
"""Up to this share of the value two values differ as by rounding."""
_STATE, _CLOCK, _ROUNDING = "state outside Spark", "the wall clock", "rounding"
_LOOK_FOR = {
    "intake": "files that changed while they were read",
    "exactly-once": f"{_STATE}, or {_CLOCK}",
    "window-contents": f"{_STATE}, or {_CLOCK}",
    "revisions": f"{_STATE}, or {_CLOCK}",
    "newest-facts": f"{_STATE}, or {_CLOCK}",
    "row-contents": f"{_STATE}, or {_CLOCK}",
    "expectations": f"{_CLOCK}, or a lag that is too short",
    "pacing": "calls that are tried again without a pause",
    "late-routing": "a bound of the job's own for what is late",
    "late-rows": "a watermark that is too short for the disorder of the events",
    "bounded-state": "an operator without a watermark or a timeout",
}
"""By checker. What is lost, doubled or another value while nothing crashes comes from what the job itself asks beside its rows."""


def words_for(report: Report, scenario: ScenarioEntry, check: str, finding: FindingEntry) -> str:
    """ "there without any fault: look for ..." where the run without a fault fails the same check; else nothing."""
    sound = not any(
        one["mode"] == "fault-free" and any(each["name"] == check and each["verdict"] == "fail" for each in one["checks"])
        for one in (*report["scenarios"], scenario)
    )
    if sound:
        return ""
    if only_rounded(finding["expected"] or "", finding["found"] or ""):
        return f"there without any fault: look for {_ROUNDING}, of floats whose order differs"
    return f"there without any fault: look for {_LOOK_FOR.get(check, f'{_STATE}, for {_CLOCK}, for {_ROUNDING}')}"


def only_rounded(expected: str, found: str) -> bool:
    """Whether two sides are the same text but for numbers that differ by little."""
    if expected == found or _NUMBER.sub("", expected) != _NUMBER.sub("", found):
        return False
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(found), strict=True)
    differing = [(one, other) for one, other in pairs if one != other]
    return bool(differing) and all(
        ("." in one or "." in other) and math.isclose(_value(one), _value(other), rel_tol=_NEAR) for one, other in differing
    )


def _value(text: str) -> float:
    return float(text.replace(",", ""))
