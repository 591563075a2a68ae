"""Facts that come in any order leave the greatest version of each key in the table, whatever befalls the job (S20)."""

from pathlib import Path

import pytest

from services.conftest import needs
from streamproof.proof import prove

pytestmark = pytest.mark.service
JOB = Path(__file__).parent / "jobs" / "facts"


@pytest.mark.full
def test_s20_the_newest_fact_of_each_key_is_in_the_table_around_the_publication() -> None:
    needs("postgres")

    proof = prove(JOB, only="publish/accounts@1:after+live")

    assert proof.verdict == "pass", repr(proof)
    first, *_ = proof.report["scenarios"]
    checks = {check["name"]: check["verdict"] for check in first["checks"]}
    assert checks["newest-facts"] == "pass"
    outputs = {output["name"]: output for output in proof.report["outputs"]}
    assert outputs["accounts"]["rows"] <= 40 + 1 < proof.report["conservation"]["fault_free"]["emitted"]
