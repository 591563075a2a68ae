"""Faults that jobs on files meet too: each fires, and the job comes through it with every event in its place (P5)."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "full_plan"
FAULTS = (
    "task-retried",
    "input-vanished",
    "replay-last",
    "changed-job",
    "other-driver",
)
FURTHER = (
    "new-checkpoint",
    "other-settings",
    "outside-settings",
    "clock-moved",
    "clock-moved-back",
    "batch-gone",
    "incarnation-torn",
    "unknown-format",
)


@pytest.mark.parametrize("faults", [FAULTS, pytest.param(FURTHER, marks=pytest.mark.full)], ids=["always", "further"])
def test_the_job_comes_through_each_of_them(faults: tuple[str, ...], tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=",".join(f"*+{fault}*" for fault in faults))

    tried = [scenario for scenario in proof.report["scenarios"] if scenario["mode"] != "fault-free"]
    twice = [fault for fault in faults if fault == "task-retried"]  # one for side rows, one for rows
    assert sorted(scenario["fault"] for scenario in tried) == sorted((*twice, *faults))
    assert all(scenario["fired"] for scenario in tried)
    assert proof, repr(proof)
