"""Two sources with clocks of their own in one stream, which parts again: sums, and windows of windows. Some crashes of each query in CI.

The quick plan is `streamproof prove tests/proofs/jobs/union --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "union"


STEPS = "fault-free,totals:plan/source.1@1:after,totals:publish/totals@2:after,busiest:publish/busiest@2:after"


@pytest.mark.full
def test_r13_a_union_and_a_stream_that_parts_again_are_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    counts = proof.report["conservation"]["fault_free"]
    assert counts["input"] == 400
    assert min(counts[place] for place in ("emitted", "open_state", "late", "rejected", "duplicate", "filtered")) > 0
    assert sum(counts[place] for place in ("emitted", "open_state", "late", "rejected", "duplicate", "filtered")) == 400
