"""The options of a job's reader meet files of the shape that they ask for: every event reaches the job, or the proof says what does not fit."""

import json

import pytest

import streamproof as sp
from full_tables import beyond
from streamproof.prove.subjects.pyspark.preparation import Wanted

RECORDS = 60
JOB = """
def job(spark):
    reader = spark.readStream.schema("id long, user string").options(**{options})
    clicks = reader.{form}("/data/clicks")
    clicks.writeStream.format("console").option("checkpointLocation", "/lake/cp").start().awaitTermination()
"""
READERS = {
    "objects over several lines": ("json", "jsonl", {"multiLine": "true"}),
    "no header": ("csv", "csv", {"header": "false"}),
    "semicolons, and stops at a spoilt record": ("csv", "csv", {"header": "true", "sep": ";", "mode": "FAILFAST"}),
    "another format than the sample": ("parquet", "jsonl", {}),
}


@pytest.mark.parametrize(("form", "ending", "options"), beyond(2, READERS.values()), ids=READERS.keys())
def test_every_event_reaches_the_job(form, ending, options, tmp_path, monkeypatch):
    rows = [{"id": n, "user": f"u{n % 3}"} for n in range(RECORDS)]
    lines = [json.dumps(row) for row in rows] if ending == "jsonl" else ["id,user", *(f"{row['id']},{row['user']}" for row in rows)]
    (tmp_path / f"clicks.{ending}").write_text("\n".join(lines) + "\n")
    (tmp_path / "job.py").write_text(JOB.format(options=options, form=form))
    monkeypatch.chdir(tmp_path)
    wanted = Wanted("job.py:job", {"clicks": f"clicks.{ending}"})

    proof = sp.prove(wanted.target, job=wanted, quick=True, batches=2, only="fault-free")

    assert proof.verdict == "pass", proof
    (output,) = proof.report["outputs"]
    assert output["rows"] >= RECORDS


@pytest.mark.full
def test_a_reader_that_takes_far_fewer_rows_than_there_are_events_is_a_finding(tmp_path, monkeypatch):
    """`comment` takes each line that begins with a digit for a comment."""
    (tmp_path / "clicks.csv").write_text("id,user\n" + "".join(f"{n},u\n" for n in range(10, RECORDS)))
    (tmp_path / "job.py").write_text(JOB.format(options={"header": "true", "comment": "2"}, form="csv"))
    monkeypatch.chdir(tmp_path)
    wanted = Wanted("job.py:job", {"clicks": "clicks.csv"}, as_is=True)

    proof = sp.prove(wanted.target, job=wanted, quick=True, batches=2, only="fault-free")

    assert proof.verdict == "fail", proof
    codes = {found["code"] for check in proof.report["scenarios"][0]["checks"] for found in check["findings"]}
    assert "rows-missing" in codes
