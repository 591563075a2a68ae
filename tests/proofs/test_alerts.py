"""An alert is proved: it is raised under what must raise it, and no other is; a rule whose metric is never set turns the proof red."""

import shutil
from pathlib import Path

import pytest

from services.conftest import needs
from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "converted"
CHECKED = """
import streamproof as sp

@sp.job
def converted(trades: sp.Stream) -> sp.Outputs:
    sound = trades.require(notional="notional > 0")
    return sp.Outputs(euros=sound, rejected=sound.rejected)
"""
FLOODED = """
[source.trades.faults]
invalid = 0.2
invalid_values = { notional = -1 }

[alerts]
minute = "200 milliseconds"
"""


def flooded(folder: Path, alerts: str) -> Path:
    """A fifth of the trades is rejected, in batches enough for the alert to hold on any machine; `alerts` is the rest of [alerts]."""
    target = Path(shutil.copytree(JOB, folder / "job"))
    (target / "job.py").write_text(CHECKED)
    scenario = (target / "scenario.toml").read_text().replace("batches = 3", "batches = 30")
    (target / "scenario.toml").write_text(f"{scenario}{FLOODED}{alerts}\n")
    return target


@pytest.mark.full
def test_what_the_events_raise_is_raised_and_no_crash_raises_more(tmp_path: Path) -> None:
    asked = 'without_fault = ["StreamproofManyRejected"]\nunder = { "process-death" = [] }'

    proof = prove(flooded(tmp_path, asked), only="publish/*+live")

    scenarios = {one["id"]: one["checks"] for one in proof.report["scenarios"]}
    assert [check["verdict"] for checks in scenarios.values() for check in checks if check["name"] == "alerts"] == ["pass", "pass"]
    (note,) = [note for note in proof.report["notes"] if note.startswith("Alerts raised")]
    assert "with 200 milliseconds for a minute of their rules: without a fault StreamproofManyRejected in 1 of 1; " in note
    assert "alerts-raised" in proof.report["note_codes"]


def test_an_alert_whose_metric_is_never_set_and_one_that_nobody_expects_turn_the_proof_red(tmp_path: Path) -> None:
    proof = prove(flooded(tmp_path, 'without_fault = ["StreamproofBackupOld"]'), only="fault-free")

    assert proof.verdict == "fail"
    (fault_free,) = proof.report["scenarios"]
    (check,) = [check for check in fault_free["checks"] if check["name"] == "alerts"]
    missing, unexpected = check["findings"]
    assert (missing["code"], unexpected["code"]) == ("alert-not-raised", "alert-raised-without-fault")
    assert missing["what"] == "StreamproofBackupOld was not raised without a fault"
    assert missing["found"] == "streamproof_newest_backup_timestamp_seconds has no sample; the condition never held"
    assert missing["how"] == "streamproof_newest_backup_timestamp_seconds is never set: nothing in the run told of it"
    assert unexpected["what"].startswith("StreamproofManyRejected was raised without any fault")
    assert 'streamproof_records_total{place="rejected", query="euros"} was ' in unexpected["found"]
    assert "fault-free: StreamproofBackupOld was not raised without a fault" in repr(proof)


@pytest.mark.service
@pytest.mark.full
def test_a_database_that_does_not_answer_raises_its_alert_and_nothing_is_raised_without(tmp_path: Path) -> None:
    needs("toxiproxy")
    target = Path(shutil.copytree(JOB, tmp_path / "job"))
    (target / "job.py").write_text(CHECKED)
    bound = (target / "streamproof.toml").read_text().partition("[sink.euros]")[0]
    sink = '[sink.euros]\nconnector = "postgres"\nurl = "postgresql://me@localhost/db"\ntable = "euros"\ncreate = true\n'
    (target / "streamproof.toml").write_text(bound + sink)
    asked = '[alerts]\nminute = "150 milliseconds"\nunder = { "postgres-outage" = ["StreamproofOutputWaits"] }\n'
    (target / "scenario.toml").write_text(f"{(target / 'scenario.toml').read_text()}\n{asked}")

    proof = prove(target, only="publish/*+postgres-outage+live")

    outage = next(one for one in proof.report["scenarios"] if one["fault"] == "postgres-outage")
    assert outage["fired"], outage
    assert proof.report["counts"]["fail"] == 0, proof.report["scenarios"]
    (note,) = [note for note in proof.report["notes"] if note.startswith("Alerts raised")]
    assert note.endswith("without a fault none; under postgres-outage StreamproofOutputWaits in 1 of 1.")
