"""The harness proves itself: six jobs with one known mistake each fail by the checker that is named, their correct twins pass (P14)."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamproof.proof import Proof, prove

pytestmark = [pytest.mark.spark, pytest.mark.proof]
MUTANTS = Path(__file__).parents[2] / "examples" / "mutants"


@dataclass(frozen=True)
class Mutant:
    """A mistake.

    Parameters
    ----------
    name
        Its folder below examples/mutants and its page below docs/incidents.
    checker
        The one that must find it.
    only
        The scenarios that are run, by a glob: those around the moment that matters, a few of them.
    finds
        Words that a finding of the checker must hold.
    names_event
        Whether that finding names an event; a checker of shares has none to name.
    without_fault
        Whether the run without a fault shows the mistake already.
    """

    name: str
    checker: str
    only: str
    finds: str
    names_event: bool = True
    without_fault: bool = False

    def __str__(self) -> str:
        return self.name


SIX = (
    # Between the write to the store beside the checkpoint (#4) and the rename that publishes the batch: the store, then the ledger (#3).
    Mutant("state-outside-the-checkpoint", "exactly-once", "publish/takings#[34]@2:after", "is counted twice"),
    # From the mark to the rows.
    Mutant("marked-done-before-durable", "exactly-once", "publish/takings.ledger@2:after", "is lost"),
    # No crash is needed; one is taken all the same.
    Mutant("zero-watermark-delay", "expectations", "publish/takings@4:after", "is late", names_event=False, without_fault=True),
    # All payments fall into the minute of the test, which does not close: nothing is published, so the crash is elsewhere.
    Mutant(
        "processing-time-for-business-time",
        "expectations",
        "commit/commits@1:after",
        "another time than it happened",
        without_fault=True,
    ),
    # The rows are published, Spark has not committed.
    Mutant("appends-on-replay", "exactly-once", "publish/takings@2:after", "is counted twice"),
    Mutant("late-bound-of-its-own", "late-routing", "takings:publish/takings@2:after", "not late", without_fault=True),
)


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all mutants: proofs leave their runs beside the job."""
    return Path(shutil.copytree(MUTANTS, tmp_path_factory.mktemp("examples") / "mutants"))


@pytest.mark.parametrize("mutant", SIX, ids=str)
def test_p14_a_mutant_fails_by_the_checker_that_is_named(mutants: Path, mutant: Mutant):
    proof = prove(mutants / mutant.name / "broken", only=mutant.only)
    told = findings_of(proof, mutant.checker)
    telling = [finding for finding in told if mutant.finds in finding["what"]]

    assert proof.verdict == "fail", proof
    assert telling, told
    assert any(finding["event"] for finding in telling) is mutant.names_event
    assert all(finding["expected"] and finding["found"] for finding in telling)
    assert every_fault_fired(proof)
    assert (proof.report["scenarios"][0]["verdict"] == "fail") is mutant.without_fault
    assert (MUTANTS.parents[1] / "docs" / "incidents" / f"{mutant.name}.md").is_file()


@pytest.mark.parametrize("mutant", SIX, ids=str)
def test_p14_its_correct_twin_passes(mutants: Path, mutant: Mutant):
    proof = prove(mutants / mutant.name / "twin", only=f"publish/takings*@{mutant.only.partition('@')[2]}")

    assert proof.verdict == "pass", proof
    assert every_fault_fired(proof)


def findings_of(proof: Proof, checker: str) -> list[dict]:
    return [
        finding
        for scenario in proof.failures
        for check in scenario["checks"]
        if check["name"] == checker and check["verdict"] == "fail"
        for finding in check["findings"]
    ]


def every_fault_fired(proof: Proof) -> bool:
    scenarios = proof.report["scenarios"]
    return len(scenarios) > 1 and all(scenario["fired"] for scenario in scenarios)
