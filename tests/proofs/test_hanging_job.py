"""A job that does not end after a crash is given up, and the proof goes on: it used to wait for ever."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove
from streamproof.prove.events import Event, Recorded
from streamproof.prove.process import children

JOB = Path(__file__).parent / "jobs" / "full_plan"
HANGS = """
import threading
from pathlib import Path
if (Path(__file__).parent / "hang").exists():
    threading.Event().wait()
"""


@pytest.mark.full
def test_a_job_that_hangs_when_it_starts_again_fails_its_scenario_and_no_other(tmp_path: Path, monkeypatch) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))
    (job / "job.py").write_text(HANGS + (job / "job.py").read_text())
    monkeypatch.setattr(children, "_PATIENCE_SECONDS", 6.0)
    monkeypatch.setattr(children, "_RECORDINGS", 0.0)

    def hang(event: Event) -> None:
        if isinstance(event, Recorded):
            (job / "hang").touch()

    proof = prove(job, only="publish/exposure@2:after,publish/exposure@2:before", listener=hang)

    verdicts = {scenario["id"]: scenario["verdict"] for scenario in proof.report["scenarios"]}
    assert verdicts.pop("fault-free") == "pass"
    assert set(verdicts.values()) == {"fail"}, repr(proof)
    (finding,) = proof.failures[0]["checks"][0]["findings"]
    assert finding["what"] == "the job did not recover: it did not end within 6 seconds."
