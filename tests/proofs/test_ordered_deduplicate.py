"""A deduplication by an order: whole rows wait in state, and the right copy comes once, through crashes around its state in CI.

The quick plan is `streamproof prove tests/proofs/jobs/newest --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "newest"
STEPS = "fault-free,plan/offsets@2:after,publish/newest@2:before,commit/commits@2:before"


@pytest.mark.full
def test_a_deduplication_by_an_order_is_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 4
    counts = proof.report["conservation"]["fault_free"]
    assert counts["duplicate"] > 5
    assert counts["open_state"] > 0
    assert sum(counts[place] for place in ("emitted", "open_state", "late", "rejected", "duplicate", "filtered")) == counts["input"]
