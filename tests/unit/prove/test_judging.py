"""What cannot be judged: a job's damage fails, a reader that breaks is unknown, a mistake in the scenario ends the proof."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.core.phases import StepName
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError, TornCheckpoint
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.faults.on_files import NotMet
from streamproof.prove.judging import Outcome, judged, not_met
from streamproof.prove.plan.planning import Mode, ScenarioPlan

PLAN = ScenarioPlan("fault-free", Mode.IMAGE, "process-death", None, None)


def judged_where(problem: Exception) -> Outcome:
    """The outcome of a scenario whose history cannot be read for this reason."""

    def judge(_: Path, **__: Any) -> Any:
        raise problem

    return judged(SimpleNamespace(judge=judge), PLAN, Path(), fired=True, seconds=1.0)  # type: ignore[arg-type]


def test_a_damaged_checkpoint_fails() -> None:
    outcome = judged_where(TornCheckpoint("offsets/1 is torn."))

    assert outcome.verdict is Verdict.FAIL
    assert "offsets/1 is torn" in outcome.checks[0].findings[0].what


def test_what_a_job_does_not_do_under_a_fault_fails_with_what_was_expected() -> None:
    outcome = not_met(PLAN, NotMet("the job did not stop cleanly", "it stops with DataError", "it ran to its end"), 1.0)

    (check,) = outcome.checks
    assert (outcome.verdict, check.name) == (Verdict.FAIL, "recovery")
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
    how = "rows.jsonl; each of its events is in it once, and the value is another"
    wrong = CheckResult("window-contents", Verdict.FAIL, (Finding(None, "total is not what it must be", how=how),), 1)
    step = StepName.parse("stage/manifest@1:after") if crashed else None
    outcome = Outcome(ScenarioPlan("id", Mode.LIVE, "process-death", step), True, [wrong], 1.0)

    assert outcome.as_dict("again", sound_without_fault=sound_without_fault)["read_on"] == page
