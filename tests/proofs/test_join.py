"""The join of two streams: rows that wait, meet and leave alone, through crashes around its state in CI.

The quick plan is `streamproof prove tests/proofs/jobs/join --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.core.account import PLACES
from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "join"
WINDOWS = Path(__file__).parent / "jobs" / "join_windows"
ONCE = Path(__file__).parent / "jobs" / "join_once"
STEPS = "fault-free,plan/offsets@2:after,publish/paid@2:before,commit/commits@2:before"


def test_the_join_of_two_streams_is_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 4
    counts = proof.report["conservation"]["fault_free"]
    assert min(counts[place] for place in ("emitted", "open_state", "late", "unmatched")) > 5
    assert sum(counts[place] for place in PLACES) == counts["input"]


@pytest.mark.full
def test_r10_a_window_after_a_join_is_proved(tmp_path: Path) -> None:
    """Each row of the join is in its window, also one without a partner, which comes out late in its time."""
    job = Path(shutil.copytree(WINDOWS, tmp_path / "job"))

    proof = prove(job, only=STEPS.replace("publish/paid", "publish/sums"))

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 4
    counts = proof.report["conservation"]["fault_free"]
    assert min(counts[place] for place in ("emitted", "open_state", "late", "unmatched", "expanded")) > 5
    assert sum(counts[place] for place in PLACES) == counts["input"]


@pytest.mark.full
def test_r12_a_deduplication_after_a_join_is_proved(tmp_path: Path) -> None:
    job = Path(shutil.copytree(ONCE, tmp_path / "job"))

    proof = prove(job, only=STEPS)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 4
    counts = proof.report["conservation"]["fault_free"]
    assert min(counts[place] for place in ("emitted", "open_state", "late", "unmatched", "duplicate", "expanded")) > 5
    assert sum(counts[place] for place in PLACES) == counts["input"]


@pytest.mark.full  # that of the keyed state runs always
@pytest.mark.service
def test_an_executor_killed_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, profile="services", events=150, batches=3, only="fault-free,publish/paid@*:before+executor-killed+live")

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 2
    assert all(scenario["fired"] for scenario in proof.report["scenarios"] if scenario["step"])
