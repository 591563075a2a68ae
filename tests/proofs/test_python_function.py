"""A job with a Python function of its own, which runs in Python workers that every scenario starts afresh (R17)."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "converted"


@pytest.mark.full
def test_a_job_with_a_python_function_passes(tmp_path: Path) -> None:
    target = Path(shutil.copytree(JOB, tmp_path / "job"))
    proof = prove(target, only="*@1:after")

    assert proof, repr(proof)
    phases = {scenario["phase"] for scenario in proof.report["scenarios"] if scenario["mode"] == "image"}
    assert phases == {"plan", "stage", "publish", "commit"}
    assert proof.report["conservation"]["fault_free"]["emitted"] == 300


@pytest.mark.full
def test_what_it_computes_is_compared_with_the_batch_query(tmp_path: Path) -> None:
    """The function gives other values in a stream than in a batch query: each row of its output says so."""
    target = Path(shutil.copytree(JOB, tmp_path / "job"))
    job = target / "job.py"
    text = job.read_text()
    wrong = "rate = float(RATE.read_text()) * (2 if rows.isStreaming else 1)"
    assert "rate = float(RATE.read_text())\n" in text
    job.write_text(text.replace("rate = float(RATE.read_text())", wrong))

    proof = prove(target, only="commit/*@1:after")

    checks = {check["name"] for check in proof.report["scenarios"][0]["checks"] if check["verdict"] == "fail"}
    assert (proof.verdict, checks) == ("fail", {"row-contents"})
