"""Sessions whose gap is that of a column, by themselves and after a deduplication: one crash of each query in CI."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "gaps"


@pytest.mark.full
def test_sessions_with_gaps_of_their_own_are_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only="fault-free,sessions:publish/sessions@2:after,once:publish/once@2:after")

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 3
    counts = proof.report["conservation"]["fault_free"]
    assert sum(counts[place] for place in ("emitted", "open_state", "late", "rejected", "duplicate", "filtered")) == counts["input"]
    assert counts["rejected"] > 10
    assert counts["late"] > 0
