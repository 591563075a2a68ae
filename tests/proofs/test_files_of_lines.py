"""A job that reads CSV and writes CSV and Avro, held to the same model as any other."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "lines"


@pytest.mark.full
def test_a_job_of_csv_is_proved(tmp_path: Path) -> None:
    proof = prove(Path(shutil.copytree(JOB, tmp_path / "job")), brief=True)

    assert proof, repr(proof)
    outputs = {output["name"]: output for output in proof.report["outputs"]}
    formats = {"sums": "csv", "late": "avro", "rejected": "csv", "again": "json"}
    assert {name: output["format"] for name, output in outputs.items()} == formats
    assert outputs["rejected"]["rows"] > 20
    assert outputs["late"]["rows"] > 0
