"""R32: rows are looked up in tables that change: each batch has the version that was fixed for it, through crashes before and after that.

The quick plan is `streamproof prove tests/proofs/jobs/lookup --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.core.account import PLACES
from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "lookup"
STEPS = "fault-free,plan/tables@2:before,plan/tables@2:after,stage/manifest@3:before"


@pytest.mark.full
def test_a_price_list_that_changes_and_rates_as_of_event_time_are_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 4
    counts = proof.report["conservation"]["fault_free"]
    assert counts["unmatched"] > 5
    assert sum(counts[place] for place in PLACES) == counts["input"]
