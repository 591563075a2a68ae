"""Jobs written as their authors would, not for us, are proved without a change; a broken variant of each fails with the cause named (P13)."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import streamproof as sp
from full_tables import full
from streamproof.prove.subjects.pyspark.preparation import Wanted

JOBS = Path(__file__).parents[2] / "examples" / "plain_pyspark"
AROUND_A_COMMIT = "[cp][ou]*"  # publish/... and commit/...


@dataclass(frozen=True)
class Plain:
    """A job of examples/plain_pyspark, and what it takes beside its clicks."""

    target: str
    more: dict[str, Any] = field(default_factory=dict)
    payments: bool = False

    def wanted(self, below: str = "") -> Wanted:
        inputs = {"clicks": str(JOBS / "clicks.jsonl")} | ({"payments": str(JOBS / "payments.jsonl")} if self.payments else {})
        return Wanted(str(JOBS / below / self.target), inputs, **self.more, show_values=True)


SESSIONS = Plain("sessions.py:click_sessions")
UPSERT = Plain(
    "upsert.py:spending",
    {
        "arguments": {"database": "{folder}/spending.db"},
        "tables": {"customers": str(JOBS / "customers.csv")},
        "readers": ("spending=upsert:read_spending",),
    },
)
ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
}
DETECTOR = Plain("detector.py:payments", {"conf": ROCKSDB})
PAIRS = Plain("pairs.py:paid_clicks", payments=True)
TOPICS = Plain("topics.py:main")
MINUTES = Plain("minutes.py")
SCRIPT = Plain("script.py", {"words": ("50",)})
BY_FORM = [UPSERT, TOPICS, SCRIPT]
"""A function, a program, a script: in CI; the others by FULL=1. A broken variant of each is in CI, without a fault of its sound part."""
ALL = [*BY_FORM, *(pytest.param(job, marks=pytest.mark.full) for job in (SESSIONS, DETECTOR, PAIRS, MINUTES))]


def proved(job: Plain, folder: Path, monkeypatch: pytest.MonkeyPatch, below: str = "", **options: Any) -> sp.Proof:  # type: ignore[name-defined]
    monkeypatch.chdir(folder)
    wanted = job.wanted(below)
    return sp.prove(wanted.target, job=wanted, quick=True, **options)


@pytest.mark.parametrize("job", ALL, ids=lambda job: job.target)
def test_a_job_that_was_not_written_for_us_passes_without_a_change(job, tmp_path, monkeypatch, imported):
    proof = proved(job, tmp_path, monkeypatch, only=AROUND_A_COMMIT)

    assert proof.verdict == "pass", proof
    assert proof.report["fired"] == len(proof.report["scenarios"]) > 2
    assert proof.report["judged_by"] == ["its own run without a fault over the same batches"]
    assert {one["name"] for one in proof.report["not_checked"]} >= {"late rows", "account", "state"}
    assert all(output["rows"] for output in proof.report["outputs"])
    assert not imported


SKIPPED = "publish/minutes.log@2:after"
"""The log of Spark's file sink has the batch, and the log of commits has not: Spark does not run it again."""


def test_a_job_with_state_and_a_file_sink_recovers_with_the_store_and_the_format_that_it_has_in_production(tmp_path, monkeypatch):
    proof = proved(MINUTES, tmp_path, monkeypatch, only=SKIPPED, batches=3)

    assert proof.verdict == "pass", proof
    assert proof.report["fired"] == len(proof.report["scenarios"]) == 2
    assert any("work/state.0.0@" in str(step) for step in proof.report["steps"])
    assert not any("sst" in str(step) for step in proof.report["steps"]), "Spark's default store, and not RocksDB"


@pytest.mark.full
@pytest.mark.parametrize("version", ["1", "2"])
def test_sparks_own_fault_in_checkpoint_format_2_is_said_with_its_place(version, tmp_path, monkeypatch):
    format_2 = {**ROCKSDB, "spark.sql.streaming.stateStore.checkpointFormatVersion": version}
    proof = proved(replace(MINUTES, more={"conf": format_2}), tmp_path, monkeypatch, only=SKIPPED, batches=3)

    assert proof.verdict == ("pass" if version == "1" else "fail"), proof
    assert any("sst" in str(step) for step in proof.report["steps"])
    found = [one for scenario in proof.report["scenarios"] for check in scenario["checks"] for one in check["findings"]]
    assert all("CheckpointInfo length: 0" in one["what"] and "FileStreamSink.addBatch" in one["found"] for one in found)


@pytest.mark.parametrize(
    ("job", "check", "code"),
    [
        (SESSIONS, "repeatable", "depends-on-wall-clock"),
        (UPSERT, "exactly-once", "other-value"),
        *full(
            (DETECTOR, "exactly-once", "other-value"),
            (PAIRS, "exactly-once", "published-again"),
            (TOPICS, "repeatable", "depends-on-random-numbers"),
            (SCRIPT, "exactly-once", "other-value"),
        ),
    ],
    ids=lambda value: getattr(value, "target", value),
)
def test_a_job_with_a_mistake_fails_with_its_cause(job, check, code, tmp_path, monkeypatch):
    proof = proved(job, tmp_path, monkeypatch, below="broken", only=AROUND_A_COMMIT, stop_at_first=True)

    assert proof.verdict == "fail", proof
    failing = [found for scenario in proof.report["scenarios"] for found in scenario["checks"] if found["verdict"] == "fail"]
    assert (failing[0]["name"], failing[0]["findings"][0]["code"]) == (check, code)
    assert (check == "repeatable") == (len(proof.report["scenarios"]) == 1), (
        "no crash is tried where two runs without one are not alike"
    )


@pytest.mark.full
def test_a_start_that_spark_refuses_before_the_first_batch_is_mended_as_a_person_would_and_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    proof = sp.prove(JOBS / SESSIONS.target, inputs=SESSIONS.wanted().inputs, only="plan/source.0@0:after")

    assert proof.verdict == "pass", proof
    assert "checkpoint-emptied" in proof.report["note_codes"]


@pytest.mark.full
def test_values_are_masked_unless_they_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    proof = sp.prove(
        JOBS / "broken" / "pairs.py:paid_clicks", inputs=PAIRS.wanted().inputs, quick=True, only="publish/*", stop_at_first=True
    )

    assert proof.verdict == "fail"
    assert "c-00" not in (proof.folder / "report.json").read_text()
