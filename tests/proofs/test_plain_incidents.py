"""Mistakes of plain PySpark that have a page in docs/incidents: each fails by the checker that is named, and its correct twin passes (P14)."""

from dataclasses import dataclass
from pathlib import Path

import pytest

import streamproof as sp
from streamproof.prove.subjects.pyspark.preparation import Wanted

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "examples" / "plain_pyspark"


@dataclass(frozen=True)
class Incident:
    """A mistake.

    Parameters
    ----------
    name
        Its folder below examples/mutants, with broken.py and twin.py, and its page below docs/incidents.
    function
        What is proved.
    found_by
        The checker that must find it, and the code of its finding.
    says
        Words of that finding.
    only
        The scenarios, by a glob.
    without_fault
        Whether the run without a fault shows the mistake already.
    """

    name: str
    function: str
    found_by: tuple[str, str]
    says: str
    only: str = "fault-free,commit/commits@[12]:after*"
    without_fault: bool = True
    inputs: tuple[str, ...] = ("clicks",)
    batches: int = 3

    def __str__(self) -> str:
        return self.name


INCIDENTS = (
    Incident(
        "state-in-a-python-dict",
        "spending",
        ("exactly-once", "other-value"),
        "keeps PAID in the memory of the process",
        without_fault=False,
    ),
)
_EVERY_DAY = ("state-in-a-python-dict",)
_CASES = [each if str(each) in _EVERY_DAY else pytest.param(each, marks=pytest.mark.full) for each in INCIDENTS]


def proved(incident: Incident, which: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> sp.Proof:  # type: ignore[name-defined]
    monkeypatch.chdir(folder)
    job = ROOT / "examples" / "mutants" / incident.name / f"{which}.py"
    wanted = Wanted(f"{job}:{incident.function}", {name: str(SAMPLES / f"{name}.jsonl") for name in incident.inputs})
    return sp.prove(wanted.target, job=wanted, quick=True, batches=incident.batches, only=incident.only)


@pytest.mark.parametrize("incident", _CASES, ids=str)
def test_p14_an_incident_fails_by_the_checker_that_is_named(incident, tmp_path, monkeypatch):
    proof = proved(incident, "broken", tmp_path, monkeypatch)
    told = [
        (check["name"], finding["code"], f"{finding['what']} {finding['how']}")
        for scenario in proof.failures
        for check in scenario["checks"]
        if check["verdict"] == "fail"
        for finding in check["findings"]
    ]

    assert proof.verdict == "fail", proof
    assert {(check, code) for check, code, _ in told} == {incident.found_by}
    assert any(incident.says in said for _, _, said in told), told
    assert (proof.report["scenarios"][0]["verdict"] == "fail") is incident.without_fault
    assert proof.failures[0]["read_on"] == f"docs/incidents/{incident.name}.md"
    assert (ROOT / "docs" / "incidents" / f"{incident.name}.md").is_file()


@pytest.mark.full
@pytest.mark.parametrize("incident", INCIDENTS, ids=str)
def test_p14_its_correct_twin_passes(incident, tmp_path, monkeypatch):
    proof = proved(incident, "twin", tmp_path, monkeypatch)

    assert proof.verdict == "pass", proof
    assert proof.report["fired"] == len(proof.report["scenarios"]) > 1
