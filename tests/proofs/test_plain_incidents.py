"""Mistakes of plain PySpark that have a page in docs/incidents: each fails by the checker that is named, and its correct twin passes (P14)."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

import streamproof as sp
from streamproof.errors import StreamproofError
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
    arguments
        What the job is given, as by `--set`.
    also
        Codes that come with it by the same checker: a user who has not paid since the crash has no total any more.
    says
        Words of that finding.
    only
        The scenarios, by a glob.
    without_fault
        Whether the run without a fault shows the mistake already.
    inputs
        The samples of examples/plain_pyspark that it takes.
    conf
        What the cluster sets, as by `--conf`.
    """

    name: str
    function: str
    found_by: tuple[str, str]
    says: str
    only: str = "fault-free,commit/commits@[12]:after*"
    without_fault: bool = True
    inputs: tuple[str, ...] = ("clicks",)
    batches: int = 3
    conf: dict[str, str] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    arguments: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


INCIDENTS = (
    Incident(
        "state-in-a-python-dict",
        "spending",
        ("exactly-once", "other-value"),
        "keeps PAID in the memory of the process",
        without_fault=False,
        also=frozenset({"lost", "more-of-them"}),
    ),
    Incident(
        "offsets-before-the-write",
        "clicks",
        ("exactly-once", "lost"),
        "a row of the output lake/clicks is lost",
        "fault-free,publish/written@1:before*",
        without_fault=False,
        also=frozenset({"more-of-them"}),
        arguments={"database": "{folder}/offsets.db"},
    ),
    Incident(
        "join-without-a-time-bound",
        "paid_clicks",
        ("bounded-state", "never-freed"),
        "keeps every row of both sides for ever",
        inputs=("clicks", "payments"),
    ),
    Incident(
        "state-without-time-to-live",
        "clicks_once",
        ("bounded-state", "never-freed"),
        "no timers and no TTL",
        conf={
            "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        },
    ),
)
TIMER = Incident(
    "timer-in-the-past", "visits", ("", ""), "PySparkValueError in visit", "fault-free,commit/commits@*:after", batches=5
)
"""Spark stops it by itself, without any fault."""
_EVERY_DAY = ("join-without-a-time-bound",)
_CASES = [each if str(each) in _EVERY_DAY else pytest.param(each, marks=pytest.mark.full) for each in INCIDENTS]


def proved(incident: Incident, which: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> sp.Proof:  # type: ignore[name-defined]
    monkeypatch.chdir(folder)
    job = ROOT / "examples" / "mutants" / incident.name / f"{which}.py"
    inputs = {name: str(SAMPLES / f"{name}.jsonl") for name in incident.inputs}
    wanted = Wanted(f"{job}:{incident.function}", inputs, conf=incident.conf, arguments=incident.arguments)
    return sp.prove(wanted.target, job=wanted, quick=True, batches=incident.batches, only=incident.only)


@pytest.mark.parametrize("incident", _CASES, ids=str)
def test_p14_an_incident_fails_by_the_checker_that_is_named(incident, tmp_path, monkeypatch):
    proof = proved(incident, "broken", tmp_path, monkeypatch)
    told = [
        (check["name"], finding["code"], f"{finding['what']} {finding['how'] or ''}")
        for scenario in proof.failures
        for check in scenario["checks"]
        if check["verdict"] == "fail"
        for finding in check["findings"]
    ]

    assert proof.verdict == "fail", proof
    checker, _ = incident.found_by
    assert {(check, code) for check, code, _ in told} == {incident.found_by, *((checker, code) for code in incident.also)}
    assert any(incident.says in said for _, _, said in told), told
    assert (proof.report["scenarios"][0]["verdict"] == "fail") is incident.without_fault
    if not incident.without_fault:
        assert proof.report["state"]["operators"] == [], "what it remembers is missing in the checkpoint"
    assert proof.failures[0]["read_on"] == f"docs/incidents/{incident.name}.md"
    assert (ROOT / "docs" / "incidents" / f"{incident.name}.md").is_file()


@pytest.mark.full
def test_p14_a_timer_in_the_past_stops_the_job_before_any_crash_is_tried(tmp_path, monkeypatch):
    with pytest.raises(StreamproofError, match="stopped without any fault") as stopped:
        proved(TIMER, "broken", tmp_path, monkeypatch)

    assert TIMER.says in str(stopped.value)


@pytest.mark.full
@pytest.mark.parametrize("incident", [*INCIDENTS, TIMER], ids=str)
def test_p14_its_correct_twin_passes(incident, tmp_path, monkeypatch):
    proof = proved(incident, "twin", tmp_path, monkeypatch)

    assert proof.verdict == "pass", proof
    assert proof.report["fired"] == len(proof.report["scenarios"]) > 1
