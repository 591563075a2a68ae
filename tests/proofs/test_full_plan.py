"""What only the full plan has: kill -9 of a child in a JVM of its own, power failures, and the recording with rare settings (R18, R20)."""

import fnmatch
import shutil
from pathlib import Path

import pytest

from full_tables import full
from streamproof.config import load
from streamproof.proof import prove
from streamproof.prove.options import Options, Selection
from streamproof.prove.run import preview
from streamproof.prove.subjects.job.preparation import JobPreparation

JOB = Path(__file__).parent / "jobs" / "full_plan"
KILLED = ("publish/rejected@2:after+kill+live", "live")
"""In every run; the others with FULL=1."""
BEYOND = (KILLED, ("publish/*+kill+live", "live"), ("start/*+emptied", "image"), ("maintenance/*+rare", "image"))


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return Path(shutil.copytree(JOB, tmp_path / "job"))


@pytest.mark.full
def test_the_plan_has_what_the_standard_plan_has_not(job: Path, tmp_path: Path) -> None:
    """`make beyond` runs all of them, and would pass without one that is not there."""
    planned = preview(JobPreparation.of(load(job)), Options(str(job), selection=Selection(full=True)), tmp_path / "plan").ids

    assert [only for only, _ in BEYOND if not fnmatch.filter(planned, only)] == []


@pytest.mark.parametrize(("only", "mode"), full(*BEYOND))
def test_the_job_comes_back(only: str, mode: str, job: Path) -> None:
    proof = prove(job, full=True, only=only)
    tried = [scenario for scenario in proof.report["scenarios"] if scenario["mode"] == mode]
    assert tried
    assert all(scenario["fired"] for scenario in tried)
    assert proof, repr(proof)
