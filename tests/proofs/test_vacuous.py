"""R29: a proof in which nothing happened is no pass."""

import shutil
from pathlib import Path

import pytest

from streamproof.errors import ScenarioError
from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "converted"
NOTHING = """
import streamproof as sp

@sp.job
def converted(trades: sp.Stream) -> sp.Outputs:
    return sp.Outputs(euros=trades.filter("notional > 5000", name="small"))
"""


def test_a_job_that_filters_every_record_is_unknown_by_name_and_what_is_misspelt_is_refused(tmp_path: Path) -> None:
    target = Path(shutil.copytree(JOB, tmp_path / "job"))
    (target / "job.py").write_text(NOTHING)

    proof = prove(target, only="fault-free")

    assert proof.account["filtered"] == 300
    assert proof.report["counts"] == {"pass": 1, "unknown": 0, "fail": 0}
    assert proof.verdict == "unknown"
    assert [(one["code"], one["name"]) for one in proof.report["not_exercised"]] == [("output-without-row", "euros")]
    assert "output-without-row: The output euros has no row" in repr(proof)
    assert "Never exercised, as the scenario allows, and so not proved: rejected." in proof.report["notes"]

    scenario = target / "scenario.toml"
    scenario.write_text(scenario.read_text().replace('["rejected"]', '["rejected", "euro"]'))
    with pytest.raises(ScenarioError, match=r'names "euro", which is nothing that this job does. Did you mean "euros"\?'):
        prove(target, only="fault-free")
