"""Live crashes agree with the images of the same steps, and a fault that does not fire leaves the verdict unknown (P5, R16, R20)."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from streamproof.core.phases import Phase
from streamproof.proof import prove
from streamproof.prove.engine import Engine

pytestmark = [pytest.mark.spark, pytest.mark.proof]
JOB = Path(__file__).parent / "jobs" / "full_plan"
PHASES = {str(phase) for phase in (Phase.START, Phase.PLAN, Phase.WORK, Phase.STAGE, Phase.PUBLISH, Phase.COMMIT)}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return Path(shutil.copytree(JOB, tmp_path / "job"))


def test_a_live_crash_in_every_phase_comes_to_the_same_end_as_its_image(job: Path) -> None:
    live = prove(job, only="*+live").report["scenarios"]
    crashed = [scenario for scenario in live if scenario["mode"] == "live"]
    assert {scenario["phase"] for scenario in crashed} == PHASES
    assert all(scenario["fired"] for scenario in crashed)
    for scenario in crashed:
        step = scenario["step"]
        image = next(found for found in prove(job, only=step).report["scenarios"] if found["mode"] == "image")
        assert (scenario["verdict"], scenario["account"]) == (image["verdict"], image["account"]), step
        assert scenario["verdict"] == "pass"


def test_a_fault_that_does_not_fire_leaves_the_verdict_unknown(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(self: Engine, identity: str, operation: str, path: str, side: str, occurrence: int, action: str) -> None:
        self._jvm.io.streamproof.proof.Faults.arm(identity, operation, "no such path", side, occurrence, action)

    monkeypatch.setattr(Engine, "arm", elsewhere)
    report: Any = prove(job, only="publish/*+live").report
    crashed = [scenario for scenario in report["scenarios"] if scenario["mode"] == "live"]
    assert [scenario["fired"] for scenario in crashed] == [False]
    assert [scenario["verdict"] for scenario in crashed] == ["unknown"]
    assert report["verdict"] == "unknown"
