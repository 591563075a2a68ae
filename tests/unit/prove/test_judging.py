"""What cannot be judged: a job's damage fails, a reader that breaks is unknown, a mistake in the scenario ends the proof."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError, TornCheckpoint
from streamproof.prove.judging import Outcome, judged
from streamproof.prove.planning import Mode, ScenarioPlan

PLAN = ScenarioPlan("fault-free", Mode.IMAGE, "process-death", None, None)


def judged_where(problem: Exception) -> Outcome:
    """The outcome of a scenario whose history cannot be read for this reason."""

    def history(_: Path, *, power_failure: bool) -> Any:
        raise problem

    return judged(SimpleNamespace(history=history), PLAN, Path(), fired=True, seconds=1.0)  # type: ignore[arg-type]


def test_a_damaged_checkpoint_fails() -> None:
    outcome = judged_where(TornCheckpoint("offsets/1 is torn."))

    assert outcome.verdict is Verdict.FAIL
    assert "offsets/1 is torn" in outcome.checks[0].findings[0].what


def test_a_reader_that_breaks_is_unknown() -> None:
    assert judged_where(KeyError("count")).verdict is Verdict.UNKNOWN


def test_a_mistake_in_the_scenario_ends_the_proof() -> None:
    with pytest.raises(ScenarioError):
        judged_where(ScenarioError("model.py gives a column that is not there."))
