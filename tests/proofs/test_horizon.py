"""A deduplication with a horizon of its own, the rows that it drops, and windows after it that go by the watermark's delay: crashes around
its state in CI.

The quick plan is `streamproof prove tests/proofs/jobs/lines --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "lines"
STEPS = "fault-free,plan/offsets@2:after,publish/sums@1:after,publish/again@1:before,commit/commits@2:before"


@pytest.mark.full
def test_r12_a_horizon_of_its_own_is_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 5
    counts = proof.report["conservation"]["fault_free"]
    assert counts["duplicate"] > 0
    assert {output["name"]: output["rows"] for output in proof.report["outputs"]}["again"] == counts["duplicate"]
    assert sum(counts[place] for place in ("emitted", "open_state", "late", "rejected", "duplicate", "filtered")) == counts["input"]
