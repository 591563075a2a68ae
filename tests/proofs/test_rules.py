"""R32: rules that change while the job runs: each batch has those that were fixed for it, through crashes before and after that.

The quick plan is `streamproof prove tests/proofs/jobs/rules --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.core.account import PLACES
from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "rules"
STEPS = "fault-free,plan/tables@1:after,stage/manifest@2:before,commit/commits@1:before"


@pytest.mark.full
def test_rules_that_change_are_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 4
    counts = proof.report["conservation"]["fault_free"]
    assert counts["filtered"] > 5
    assert sum(counts[place] for place in PLACES) == counts["input"]
