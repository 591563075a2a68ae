"""The harness proves itself: jobs with one known mistake each fail by the checker that is named, their correct twins pass (P14)."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamproof.proof import Proof, prove

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
    variant
        A folder below that of the name: the same mistake on a real service.
    output
        The main output, around whose publication the twin is crashed.
    """

    name: str
    checker: str
    only: str
    finds: str
    names_event: bool = True
    without_fault: bool = False
    variant: str = ""
    output: str = "takings"

    @property
    def folder(self) -> Path:
        return Path(self.name, self.variant)

    def __str__(self) -> str:
        return str(self.folder)


JOBS = (
    # Between the write to the store beside the checkpoint (#4) and the rename that publishes the batch: the store, then the ledger (#3).
    Mutant("state-outside-the-checkpoint", "exactly-once", "publish/takings#[34]@2:after", "is counted twice"),
    # From the mark to the rows.
    Mutant("marked-done-before-durable", "exactly-once", "publish/takings.ledger@2:after", "is lost"),
    # No crash is needed; one is taken all the same.
    Mutant("partial-read", "exactly-once", "publish/takings@2:after", "is lost", without_fault=True),
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
    # The rules change before batch 2.
    Mutant(
        "rules-read-once",
        "expectations",
        "publish/suspicious@3:after",
        "held before it changed",
        names_event=False,
        without_fault=True,
        output="suspicious",
    ),
)

ON_SERVICES = (
    # The tasks of batch 1 have added to Redis, nothing of it is published: it runs again.
    Mutant(
        "state-outside-the-checkpoint",
        "window-contents",
        "stage/manifest@1:after+live",
        "each of its events is in it once, and the value is another",
        names_event=False,
        variant="redis",
    ),
    # Between the two commits.
    Mutant("marked-done-before-durable", "exactly-once", "publish/takings.ledger@2:after+live", "is lost", variant="postgres"),
    # The first driver has looked, the second one publishes, the first one goes on.
    Mutant("two-drivers", "exactly-once", "publish/takings@2:before+two-drivers+live", "is counted twice"),
    # The API answers with 500 for two seconds.
    Mutant("retry-storm", "pacing", "publish/takings.call@2:after+api-broken+live", "without a pause", names_event=False),
)
ALL = (*JOBS, *[pytest.param(mutant, marks=pytest.mark.service) for mutant in ON_SERVICES])
_EVERY_DAY = ("state-outside-the-checkpoint",)
_ON_FILES = [each if str(each) in _EVERY_DAY else pytest.param(each, marks=pytest.mark.full) for each in JOBS]
_AT_SERVICES = [pytest.param(each, marks=[pytest.mark.service, pytest.mark.full]) for each in ON_SERVICES]
ALWAYS = (*_ON_FILES, *_AT_SERVICES)
"""Each is a proof of its own, of half a minute to minutes: every test run has some, the full tables have all."""


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all mutants: proofs leave their runs beside the job."""
    return Path(shutil.copytree(MUTANTS, tmp_path_factory.mktemp("examples") / "mutants"))


@pytest.mark.parametrize("mutant", ALWAYS, ids=str)
def test_p14_a_mutant_fails_by_the_checker_that_is_named(mutants: Path, mutant: Mutant):
    proof = prove(mutants / mutant.folder / "broken", only=mutant.only)
    told = findings_of(proof, mutant.checker)
    telling = [finding for finding in told if mutant.finds in f"{finding['what']} {finding['how']}"]

    assert proof.verdict == "fail", proof
    assert telling, told
    assert any(finding["event"] for finding in telling) is mutant.names_event
    assert all(finding["expected"] and finding["found"] for finding in telling)
    assert every_fault_fired(proof)
    assert (proof.report["scenarios"][0]["verdict"] == "fail") is mutant.without_fault
    if mutant in JOBS and not mutant.without_fault:  # what a sink does is not in Spark's state
        assert {one["unsound"] for one in proof.report["state"]["operators"]} == {0}
    page = f"docs/incidents/{mutant.name}.md"
    assert (MUTANTS.parents[1] / page).is_file()
    if mutant in ON_SERVICES:
        assert {scenario["read_on"] for scenario in proof.failures} == {page}, "the cause is named"


@pytest.mark.full
@pytest.mark.parametrize("mutant", ALL, ids=str)
def test_p14_its_correct_twin_passes(mutants: Path, mutant: Mutant):
    proof = prove(mutants / mutant.folder / "twin", only=f"publish/{mutant.output}*@{mutant.only.partition('@')[2]}")

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
