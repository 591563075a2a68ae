"""Where the checkpoint of a plain job lies: the commonest mistakes, each beside the same job without it (docs/incidents/checkpoint-*.md)."""

import json
from pathlib import Path

import pytest

import streamproof as sp
from full_tables import full
from streamproof.prove.subjects.pyspark.preparation import Wanted

JOB = Path(__file__).parent / "jobs" / "checkpoints" / "clicks.py"
BEHIND_A_COMMIT = "commit/commits@1:after+live,commit/commits@1:after"


@pytest.mark.parametrize(
    ("function", "code"),
    [
        ("sound", None),
        ("deletes", "checkpoint-deleted"),
        ("misses", "checkpoint-missing"),
        *full(("changes", "checkpoint-changes"), ("shares", "checkpoint-shared"), ("deletes_by_hadoop", "checkpoint-deleted")),
    ],
)
def test_a_mistake_in_where_the_checkpoint_lies_is_found_and_the_sound_twin_passes(function, code, tmp_path, monkeypatch):
    (tmp_path / "clicks.jsonl").write_text("".join(json.dumps({"id": n, "user": f"u{n % 3}"}) + "\n" for n in range(30)))
    monkeypatch.chdir(tmp_path)
    wanted = Wanted(f"{JOB}:{function}", {"clicks": "clicks.jsonl"}, as_is=True)

    proof = sp.prove(wanted.target, job=wanted, quick=True, batches=3, only="*commit/commits@1:after*", stop_at_first=True)

    failing = [scenario for scenario in proof.report["scenarios"] if scenario["verdict"] == "fail"]
    found = [
        one["code"]
        for scenario in failing
        for check in scenario["checks"]
        for one in check["findings"][:1]
        if check["name"] == "intake"
    ]
    assert (proof.verdict, found[:1]) == (("pass", []) if code is None else ("fail", [code])), proof
    assert all(scenario["read_on"] == f"docs/incidents/{code}.md" for scenario in failing[:1])
