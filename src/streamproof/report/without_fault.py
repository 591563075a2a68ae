"""A finding that is there without any fault: that no crash is its cause, and what to look for instead."""

from streamproof.report.shape import FindingEntry, Report, ScenarioEntry

_STATE, _CLOCK, _ROUNDING = "state outside Spark", "the wall clock", "rounding"
_LOOK_FOR = {
    "intake": "files that changed while they were read",
    "exactly-once": f"{_STATE}, or {_CLOCK}",
    "window-contents": f"{_STATE}, or {_CLOCK}",
    "revisions": f"{_STATE}, or {_CLOCK}",
    "newest-facts": f"{_STATE}, or {_CLOCK}",
    "row-contents": f"{_STATE}, or {_CLOCK}",
    "expectations": f"{_CLOCK}, or a delay that is too short",
    "pacing": "calls that are tried again without a pause",
    "late-routing": "a bound of the job's own for what is late",
    "alerts": "what the metric of the alert says: the events may raise it by themselves ([alerts] without_fault)",
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
    if finding.get("rounded", False):
        return f"there without any fault: look for {_ROUNDING}, of floats whose order differs"
    return f"there without any fault: look for {_LOOK_FOR.get(check, f'{_STATE}, for {_CLOCK}, for {_ROUNDING}')}"
