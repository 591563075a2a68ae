"""An output with several sinks: each of them is held to the same model, and crashed at its own publication (K7)."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "several"
SINKS = {"kept.table": "parquet", "kept.lines": "json", "rejected.table": "parquet", "rejected.lines": "json"}


@pytest.mark.full
def test_k7_every_sink_of_an_output_is_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only="publish/*@1:after,commit/*@1:after")

    assert proof, repr(proof)
    crashed = {scenario["step"].rpartition("@")[0] for scenario in proof.report["scenarios"] if scenario["step"]}
    assert {f"publish/{sink}{part}" for sink in SINKS for part in ("", ".copy", ".ledger")} <= crashed
    outputs = {output["name"]: output for output in proof.report["outputs"]}
    assert {name: output["format"] for name, output in outputs.items()} == {**SINKS, "late": "json"}
    assert outputs["kept.table"]["rows"] == outputs["kept.lines"]["rows"] > 100
    assert outputs["rejected.table"]["rows"] == outputs["rejected.lines"]["rows"] > 0
