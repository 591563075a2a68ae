"""Declared state: lists, maps, timers and side outputs, through crashes around its state in CI.

The quick plan is `streamproof prove tests/proofs/jobs/keyed --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.core.account import PLACES
from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "keyed"
STEPS = "fault-free,plan/offsets@2:after,publish/watched@2:before,commit/commits@2:before"


def test_declared_state_is_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 4
    counts = proof.report["conservation"]["fault_free"]
    assert min(counts["absorbed"], counts["emitted"], counts["tagged"]) > 5
    assert sum(counts[place] for place in PLACES) == counts["input"]


@pytest.mark.full
def test_r32_state_that_begins_with_a_table_is_proved_also_where_the_table_has_changed_when_the_first_batch_is_done_again(
    tmp_path: Path,
) -> None:
    job = Path(shutil.copytree(JOB.with_name("keyed_initial"), tmp_path / "job"))

    proof = prove(job, only="fault-free,plan/tables@0:after,stage/manifest@0:before,publish/booked@0:after,commit/commits@1:before")

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 5
    counts = proof.report["conservation"]["fault_free"]
    assert min(counts["absorbed"], counts["emitted"]) > 5


@pytest.mark.full
@pytest.mark.service
def test_an_executor_killed_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, profile="services", events=150, batches=3, only="fault-free,publish/watched@*:before+executor-killed+live")

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 2
    assert all(scenario["fired"] for scenario in proof.report["scenarios"] if scenario["step"])
