"""What cannot be judged: a job's damage fails, a reader that breaks is unknown, a mistake in the scenario ends the proof."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.core.phases import StepName
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError, TornCheckpoint
from streamproof.prove.checkers import (
    CheckResult,
    Finding,
    Undecided,
    exactly_once,
    expectations,
    pacing,
    side_rows,
    window_contents,
)
from streamproof.prove.faults.on_files import NotMet, Unmet
from streamproof.prove.judging import Outcome, broken, judged, not_met, stopped
from streamproof.prove.plan.planning import FAULT_FREE, Mode, ScenarioPlan
from streamproof.prove.process.task import ChildResult

PLAN = ScenarioPlan("fault-free", Mode.IMAGE, "process-death", None, None)


def judged_where(problem: Exception) -> Outcome:
    """The outcome of a scenario whose history cannot be read for this reason."""

    def judge(_: Path, **__: Any) -> Any:
        raise problem

    return judged(SimpleNamespace(judge=judge), PLAN, Path(), fired=True, seconds=1.0)  # type: ignore[arg-type]


def test_a_damaged_checkpoint_fails() -> None:
    outcome = judged_where(TornCheckpoint("offsets/1 is torn."))

    assert outcome.verdict is Verdict.FAIL
    assert outcome.checks[0].findings[0].code == TornCheckpoint.code


def test_what_a_job_does_not_do_under_a_fault_fails_with_what_was_expected() -> None:
    outcome = not_met(
        PLAN, NotMet(Unmet.NOT_STOPPED, "the job did not stop cleanly", "it stops with DataError", "it ran to its end"), 1.0
    )

    (check,) = outcome.checks
    assert (outcome.verdict, check.name, check.findings[0].code) == (Verdict.FAIL, "recovery", "not-stopped-cleanly")
    assert (check.findings[0].expected, check.findings[0].found) == ("it stops with DataError", "it ran to its end")


def test_a_reader_that_breaks_is_unknown() -> None:
    assert judged_where(KeyError("count")).verdict is Verdict.UNKNOWN


def test_a_mistake_in_the_scenario_ends_the_proof() -> None:
    with pytest.raises(ScenarioError):
        judged_where(ScenarioError("model.py gives a column that is not there."))


@pytest.mark.parametrize(
    ("sound_without_fault", "crashed", "page"),
    [(True, True, "docs/incidents/state-outside-the-checkpoint.md"), (False, True, None), (True, False, None)],
)
def test_a_value_that_only_a_crash_makes_wrong_names_the_state_outside(sound_without_fault: bool, crashed: bool, page: str | None):
    wrong = CheckResult("window-contents", Verdict.FAIL, (Finding(window_contents.Code.OTHER_VALUE, None, "total is 7"),), 1)
    step = StepName.parse("stage/manifest@1:after") if crashed else None
    outcome = Outcome(ScenarioPlan("id", Mode.LIVE, "process-death", step), True, [wrong], 1.0)

    assert outcome.as_dict("again", sound_without_fault=sound_without_fault)["read_on"] == page


@pytest.mark.parametrize(
    ("check", "code", "page"),
    [
        ("exactly-once", exactly_once.Code.PUBLISHED_AGAIN, "appends-on-replay"),
        ("exactly-once", exactly_once.Code.COUNTED_AGAIN, "state-outside-the-checkpoint"),
        ("exactly-once", exactly_once.Code.COUNTED_WRONGLY, "state-outside-the-checkpoint"),
        ("exactly-once", exactly_once.Code.LOST, "partial-read"),
        ("exactly-once", exactly_once.Code.NO_TRACE, None),
        ("pacing", pacing.Code.TRIED_WITHOUT_PAUSE, "retry-storm"),
        ("late-routing", side_rows.Code.NOT_DELIVERED, "late-bound-of-its-own"),
        ("rejected-routing", side_rows.Code.NOT_DELIVERED, None),
        ("expectations", expectations.Code.OTHER_TIME, "processing-time-for-business-time"),
        ("expectations", expectations.Code.TOO_MANY_LATE, "zero-watermark-delay"),
        ("expectations", expectations.Code.TOO_MANY_OPEN, None),
        ("expectations", expectations.Code.TABLE_BEHIND, "rules-read-once"),
    ],
)
def test_the_page_to_read_on_goes_by_the_code_and_not_by_the_words(check: str, code: str, page: str | None):
    finding = Finding(code, None, "was published, is counted, is lost, is late", how="by another time")
    outcome = Outcome(PLAN, True, [CheckResult(check, Verdict.FAIL, (finding,), 1)], 1.0)

    assert outcome.as_dict("again", sound_without_fault=True)["read_on"] == (f"docs/incidents/{page}.md" if page else None)


def test_rows_that_are_lost_without_a_fault_too_were_not_lost_by_a_crash() -> None:
    lost = CheckResult("exactly-once", Verdict.FAIL, (Finding(exactly_once.Code.LOST, None, "is lost"),), 1)

    crash = ScenarioPlan("id", Mode.LIVE, "process-death", StepName.parse("stage/manifest@1:after"))

    def read_on(plan: ScenarioPlan, *, sound: bool) -> str:
        return str(Outcome(plan, True, [lost], 1.0).as_dict("again", sound_without_fault=sound)["read_on"])

    assert read_on(crash, sound=True) == "docs/incidents/marked-done-before-durable.md"
    assert read_on(crash, sound=False) == read_on(FAULT_FREE, sound=False) == "docs/incidents/partial-read.md"


def test_a_finding_that_knows_its_cause_names_the_page_by_itself() -> None:
    known = Finding(exactly_once.Code.LOST, None, "is lost", page="state-in-a-python-dict")
    outcome = Outcome(PLAN, True, [CheckResult("exactly-once", Verdict.FAIL, (known,), 1)], 1.0)

    assert outcome.as_dict("again", sound_without_fault=True)["read_on"] == "docs/incidents/state-in-a-python-dict.md"


def test_a_job_that_does_not_come_back_fails_with_the_code_of_what_stopped_it() -> None:
    outcome = stopped(PLAN, ChildResult(TornCheckpoint.code, "offsets/1 is torn.", "Restore it."), fired=True, seconds=1.0)

    (check,) = outcome.checks
    assert (check.name, check.findings[0].code) == ("recovery", "torn-checkpoint")


def test_a_harness_that_breaks_is_unknown_and_says_by_a_code_why() -> None:
    outcome = broken(PLAN, Undecided.DISK_FULL, "The disk is full.", 1.0)

    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.checks[0].as_dict()["findings"][0]["code"] == "disk-full"
