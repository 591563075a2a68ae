"""Patterns of a key, through crashes around their state in CI.

The quick plan is `streamproof prove tests/proofs/jobs/patterns --quick`, and of the other two jobs.
"""

import shutil
from pathlib import Path

import pytest

from full_tables import full
from streamproof.core.account import PLACES
from streamproof.proof import prove

JOBS = Path(__file__).parent / "jobs"
STEPS = {
    "patterns_waiting": "fault-free,ordered:commit/commits@2:before",
    "attribution": "fault-free,plan/offsets@2:after,publish/attributed@2:before,commit/commits@2:before",
    "patterns": "fault-free,slid:publish/slid@2:before",
}


@pytest.mark.full
@pytest.mark.parametrize("name", ["patterns_waiting", "attribution", *full("patterns")])
def test_patterns_are_proved(name, tmp_path):
    job = Path(shutil.copytree(JOBS / name, tmp_path / "job"))

    proof = prove(job, only=STEPS[name])

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] >= 2
    assert all(output["rows"] for output in proof.report["outputs"]), proof.report["outputs"]
    counts = proof.report["conservation"]["fault_free"]
    assert sum(counts[place] for place in PLACES) == counts["input"]
