"""Every kind of window, each decided late by itself, around the midnight before clocks go on: one crash of each query in CI.

The whole quick plan of this job: `streamproof prove tests/proofs/jobs/windows --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

QUERIES = ("hops", "visits", "days", "nights", "minutes")
ONE_OF_EACH = ",".join(f"{query}:publish/{query}@2:after" for query in QUERIES)
JOB = Path(__file__).parent / "jobs" / "windows"


@pytest.mark.full
def test_r11_windows_that_hop_sessions_and_days_are_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=f"fault-free,{ONE_OF_EACH}")

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 1 + len(QUERIES)
    counts = proof.report["conservation"]["fault_free"]
    assert counts["input"] == 400 + counts["expanded"] > 1_200
    assert sum(counts[place] for place in ("emitted", "open_state", "late", "rejected", "duplicate", "filtered")) == counts["input"]
