"""The quick plan of a job: one disk for each kind of step, every phase live, named in its verdict."""

import shutil
from pathlib import Path

import pytest

from streamproof.core.phases import StepName
from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "converted"


@pytest.mark.full
def test_a_quick_plan_tries_each_kind_of_step_once_and_every_phase_live(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = prove(Path(shutil.copytree(JOB, tmp_path / "job")), quick=True, progress=True)

    assert proof, repr(proof)
    assert proof.report["plan"] == "quick"
    assert any("quick plan" in note for note in proof.report["notes"]), "what it leaves out is said"
    tried = {mode: [entry for entry in proof.report["scenarios"] if entry["mode"] == mode] for mode in ("image", "live")}
    kinds = [kind(entry["step"]) for entry in tried["image"]]
    assert len(kinds) == len(set(kinds))
    assert {kind(step["id"]) for step in proof.report["steps"] if step["id"].endswith(":after")} <= set(kinds)
    assert {entry["phase"] for entry in tried["live"]} == {step["phase"] for step in proof.report["steps"]} - {"maintenance"}
    assert all("agreement" in [check["name"] for check in entry["checks"]] for entry in tried["live"])
    assert "distinct disks" in capsys.readouterr().out, "its progress is shown"


def kind(step: str | None) -> tuple[str, str, str]:
    name = StepName.parse(step or "")
    return str(name.phase), "".join(part for part in name.kind.split(".") if not part.isdigit()), str(name.side)
