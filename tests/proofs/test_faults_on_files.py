"""Faults that jobs on files meet too: each fires, and the job comes through it with every event in its place (P5)."""

import shutil
from pathlib import Path

import pytest

from streamproof.core.phases import Phase
from streamproof.errors import DiskFull
from streamproof.proof import prove
from streamproof.prove.faults.on_files import Case, FileFault, after
from streamproof.prove.process.task import ChildResult
from streamproof.prove.record.live import Action

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
def test_the_job_comes_through_each_of_them(faults: tuple[str, ...], tmp_path: Path, imported: set[str]) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=",".join(f"*+{fault}*" for fault in faults))

    tried = [scenario for scenario in proof.report["scenarios"] if scenario["mode"] != "fault-free"]
    twice = [fault for fault in faults if fault == "task-retried"]  # one for side rows, one for rows
    assert sorted(scenario["fault"] for scenario in tried) == sorted((*twice, *faults))
    assert all(scenario["fired"] for scenario in tried)
    assert proof, repr(proof)
    assert not imported


def on_a_full_disk(case: Case) -> ChildResult:
    with case.armed() as run:
        stopped = run.start()
        case.fired = run.fired
    case.require_stopped_by(DiskFull, stopped)
    return case.start()


@pytest.mark.full
def test_a_fault_on_storage_is_met_while_the_job_runs_and_the_job_goes_on_after_it(tmp_path: Path, monkeypatch) -> None:
    """There is none in the plan yet: this one shows that it would have all that it needs."""
    job = Path(shutil.copytree(JOB, tmp_path / "job"))
    fault = FileFault("disk-full", "the disk is full", after(Phase.STAGE, "manifest"), on_a_full_disk, arms=Action.ENOSPC)
    monkeypatch.setattr("streamproof.prove.plan.on_files.FAULTS", (fault,))

    proof = prove(job, only="*+disk-full*")

    (tried,) = [scenario for scenario in proof.report["scenarios"] if scenario["mode"] != "fault-free"]
    assert (tried["fault"], tried["fired"], tried["verdict"]) == ("disk-full", True, "pass"), tried["checks"]
