"""Rows that Spark drops without a word, and state that it never frees, are findings of a plain job; what is known is let be by name."""

import json
from pathlib import Path
from typing import Any

import pytest

import streamproof as sp
from streamproof.prove.subjects.pyspark.preparation import Wanted

BATCH = 20
"""Clicks of a batch: two files of ten."""
JOB = """
from pyspark.sql import functions as F


def job(clicks):
    read = clicks.where("id <> 23").withColumn("at", F.to_timestamp("at"))
    late = read.withWatermark("at", "0 seconds").groupBy(F.window("at", "1 second"), "user").count()
    kept = clicks.dropDuplicates(["id"]).select("id", F.substring("user", 1, 1).alias("u"))
    few = clicks.groupBy("user").count()
    for name, frame, mode in (("late", late, "update"), ("kept", kept, "append"), ("few", few, "update")):
        frame.writeStream.outputMode(mode).format("console").queryName(name).start().awaitTermination()
"""


def proved(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> sp.Proof:  # type: ignore[name-defined]
    """Three batches. In the last one three of four clicks are ten seconds too old; two of the three are of one user, in one window."""
    (folder / "job.py").write_text(JOB)
    rows = [
        {"id": n, "user": f"u{n % 2}", "at": f"2026-01-05T09:00:{10 + second:02d}.{n % 10}00Z"}
        for n in range(3 * BATCH)
        for second in [n // 4 - (10 if n >= 2 * BATCH and n % 4 != 3 else 0)]
    ]
    (folder / "clicks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.chdir(folder)
    wanted = Wanted("job.py:job", {"clicks": "clicks.jsonl"}, as_is=True)
    return sp.prove(wanted.target, job=wanted, quick=True, batches=3, only="fault-free", **options)


def findings(proof: sp.Proof) -> dict[str, list[dict[str, Any]]]:  # type: ignore[name-defined]
    (scenario,) = proof.report["scenarios"]
    return {check["name"]: check["findings"] for check in scenario["checks"] if check["verdict"] == "fail"}


def test_rows_dropped_as_late_and_state_that_stays_are_findings_by_events_and_watermarks(tmp_path, monkeypatch):
    proof = proved(tmp_path, monkeypatch)
    found = findings(proof)

    assert proof.verdict == "fail", proof
    (late,), (state,) = found.pop("late-rows"), found.pop("bounded-state")
    assert not found
    assert late["found"].startswith("12 dropped, 12 of them the job's own; Spark's own count says ")
    assert int(late["found"].rpartition(" ")[2]) < 12, "Spark counts after its partial aggregation"
    assert "the query kept is never freed" in state["what"]
    assert "few: it keeps a row for each user for ever, 2 rows at the end" in str(proof.report["not_checked"])


@pytest.mark.full
def test_what_is_expected_is_let_be_and_the_replay_says_it_too(tmp_path, monkeypatch):
    proof = proved(tmp_path, monkeypatch, expect=["late=12", "unbounded-state"])

    assert proof.verdict == "pass", proof
    assert "expected" in proof.report["note_codes"][:2], "the screen shows two notes"
    assert "--expect late=12 --expect unbounded-state" in proof.report["command"]
