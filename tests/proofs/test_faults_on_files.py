"""Faults that jobs on files meet too: each fires, and the job comes through it with every event in its place (P5)."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

pytestmark = [pytest.mark.spark, pytest.mark.proof]
JOB = Path(__file__).parent / "jobs" / "full_plan"
FAULTS = (
    "task-retried",
    "input-vanished",
    "new-checkpoint",
    "replay-last",
    "other-settings",
    "outside-settings",
    "changed-job",
    "clock-moved",
    "clock-moved-back",
    "batch-gone",
    "other-driver",
    "incarnation-torn",
    "unknown-format",
)


def test_the_job_comes_through_each_of_them(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=",".join(f"*+{fault}*" for fault in FAULTS))

    tried = [scenario for scenario in proof.report["scenarios"] if scenario["mode"] != "fault-free"]
    assert sorted(scenario["fault"] for scenario in tried) == sorted(("task-retried", *FAULTS))  # one for side rows, one for rows
    assert all(scenario["fired"] for scenario in tried)
    assert proof, repr(proof)
