"""The newest row of each key: what is compared with is in state, and a change goes on once, through crashes around its state in CI.

The quick plan is `streamproof prove tests/proofs/jobs/latest --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.core.account import PLACES
from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "latest"
STEPS = "fault-free,plan/offsets@2:after,publish/latest@2:before,commit/commits@2:before"


@pytest.mark.full
def test_the_newest_row_of_each_key_is_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 4
    counts = proof.report["conservation"]["fault_free"]
    assert counts["superseded"] > 5
    assert sum(counts[place] for place in PLACES) == counts["input"]
