"""What only the full plan has: kill -9 of a child in a JVM of its own, power failures, and the recording with rare settings."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

pytestmark = [pytest.mark.spark, pytest.mark.proof]
JOB = Path(__file__).parent / "jobs" / "full_plan"


@pytest.mark.parametrize(
    ("only", "mode"),
    [("publish/*+kill+live", "live"), ("start/*+emptied", "image"), ("maintenance/*+rare", "image")],
)
def test_the_job_comes_back(only: str, mode: str, tmp_path: Path) -> None:
    target = Path(shutil.copytree(JOB, tmp_path / "job"))
    proof = prove(target, full=True, only=only)
    tried = [scenario for scenario in proof.report["scenarios"] if scenario["mode"] == mode]
    assert tried
    assert all(scenario["fired"] for scenario in tried)
    assert proof, repr(proof)
