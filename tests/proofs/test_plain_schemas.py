"""A plain job that expects typed columns is proved with a schema beside its sample, and told of the option without one."""

import json
from pathlib import Path

import pytest

import streamproof as sp
from streamproof.errors import StreamproofError

JOB = """
from pyspark.sql import functions as F

def per_minute(clicks):
    return clicks.withWatermark("at", "10 seconds").groupBy(F.window("at", "1 minute"), "user").count()
"""
SCHEMA = "at timestamp, user string"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "job.py").write_text(JOB)
    rows = [{"user": f"u{n % 3}", "n": n, "at": f"2026-03-01T09:{n // 6:02}:{n % 6 * 10:02}Z"} for n in range(60)]
    (tmp_path / "clicks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "clicks.csv").write_text("user,n,at\n" + "".join(f"{row['user']},{row['n']},{row['at']}\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.full
def test_without_a_schema_the_error_names_the_option_and_the_column(folder):
    with pytest.raises(StreamproofError) as problem:
        sp.prove("job.py:per_minute", inputs={"clicks": "clicks.jsonl"}, quick=True, batches=2, only="fault-free")

    assert "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE" in problem.value.message
    assert problem.value.remedy.endswith("--schema 'clicks=user string, n long, at timestamp'")


@pytest.mark.parametrize("file", ["clicks.jsonl", pytest.param("clicks.csv", marks=pytest.mark.full)])
def test_with_a_schema_the_job_is_proved(folder, file):
    proof = sp.prove(
        "job.py:per_minute", inputs={"clicks": sp.sample(file, schema=SCHEMA)}, quick=True, batches=2, only="fault-free"
    )

    assert proof, proof
    assert proof.report["outputs"][0]["rows"] > 0
    assert "--schema 'clicks=at timestamp, user string'" in proof.report["scenarios"][0]["replay"]
