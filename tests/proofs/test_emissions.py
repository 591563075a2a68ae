"""Windows that give several rows, through crashes: corrections and running results. Some crashes of each query in CI.

The quick plan is `streamproof prove tests/proofs/jobs/emissions --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "emissions"
STEPS = (
    "fault-free,totals:work/parked.0@2:after,totals:stage/manifest@2:after,totals:publish/totals@3:after,"
    "running:publish/running@2:after"
)


@pytest.mark.full
def test_every_row_of_a_window_is_proved_through_crashes(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert len(proof.report["scenarios"]) == 5
    counts = proof.report["conservation"]["fault_free"]
    assert min(counts[place] for place in ("emitted", "open_state", "late", "rejected", "duplicate")) > 0
    checks = {check["name"]: check["verdict"] for check in proof.report["scenarios"][0]["checks"]}
    assert checks["revisions"] == "pass"
