"""Two sources of one job, each read by a query of its own: no event of one is taken for one of the other."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "two_sources"


@pytest.mark.full
def test_a_job_with_two_sources_is_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only="fault-free,totals:publish/totals@1:after,paid:publish/paid@1:after")

    assert proof, repr(proof)
    assert proof.report["events"] == 600
    assert proof.report["conservation"]["fault_free"]["input"] == 300
    assert {output["name"] for output in proof.report["outputs"]} >= {"totals", "paid", "late", "paid_late", "rejected"}
