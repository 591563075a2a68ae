"""Live crashes agree with the images of the same steps, and a fault that does not fire leaves the verdict unknown (P5, R16, R20)."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from streamproof.config import load
from streamproof.core.phases import Phase
from streamproof.proof import prove
from streamproof.prove.options import Options, Selection
from streamproof.prove.process.engine import Engine
from streamproof.prove.run import preview, run_proof
from streamproof.prove.subjects.job.preparation import JobPreparation

JOB = Path(__file__).parent / "jobs" / "full_plan"
PHASES = {str(phase) for phase in (Phase.START, Phase.PLAN, Phase.WORK, Phase.STAGE, Phase.PUBLISH, Phase.COMMIT)}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return Path(shutil.copytree(JOB, tmp_path / "job"))


@pytest.mark.full
def test_a_live_crash_in_every_phase_comes_to_the_same_end_as_its_image(job: Path, tmp_path: Path) -> None:
    live = preview(JobPreparation.of(load(job)), Options(str(job), selection=Selection(only="*:after+live")), tmp_path / "plan").ids
    both = Options(
        str(job), selection=Selection(ids=tuple(name for crash in live for name in (crash, crash.removesuffix("+live"))))
    )
    report = run_proof(JobPreparation.of(load(job)), both, tmp_path / "both")
    found = {scenario["id"]: scenario for scenario in report["scenarios"]}
    assert {found[name]["phase"] for name in live} == PHASES
    for name in live:
        crashed, image = found[name], found[name.removesuffix("+live")]
        assert (crashed["mode"], image["mode"]) == ("live", "image")
        assert crashed["fired"]
        assert (crashed["verdict"], crashed["account"]) == ("pass", image["account"]), name
    assert report["counts"]["pass"] == 1 + 2 * len(live)


def test_a_fault_that_does_not_fire_leaves_the_verdict_unknown(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(
        self: Engine, identity: str, operation: str, path: str, side: str, occurrence: int, since: str, action: str
    ) -> None:
        self._jvm.io.streamproof.proof.Faults.arm(identity, operation, "no such path", side, occurrence, since, action)

    monkeypatch.setattr(Engine, "arm", elsewhere)
    report: Any = prove(job, only="publish/*+live").report
    crashed = [scenario for scenario in report["scenarios"] if scenario["mode"] == "live"]
    assert [scenario["fired"] for scenario in crashed] == [False]
    assert [scenario["verdict"] for scenario in crashed] == ["unknown"]
    assert report["verdict"] == "unknown"
