"""A proof that is asked to end says so at once, ends its children, and leaves the report of what it has finished."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from streamproof.core.clock import monotonic_seconds

JOB = Path(__file__).parent / "jobs" / "full_plan"


def asked_to_end(job: Path, when: str, sent: int, *words: str) -> tuple[int, str, float]:
    """Proves, and sends a signal as soon as a line of the progress says this; exit code, what was printed, and seconds since the signal."""
    command = [sys.executable, "-m", "streamproof", "prove", str(job), *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=job.parent, start_new_session=True
    )
    watchdog = threading.Timer(400, os.killpg, (process.pid, signal.SIGKILL))
    watchdog.start()
    said, at = "", 0.0
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if when in line and not at:
            at = monotonic_seconds()
            process.send_signal(sent)
    code = process.wait()
    watchdog.cancel()
    return code, said, monotonic_seconds() - at


@pytest.mark.full
def test_what_is_finished_is_in_the_report(tmp_path: Path) -> None:
    job = shutil.copytree(JOB, tmp_path / "job")

    code, said, seconds = asked_to_end(job, "proving", signal.SIGTERM)

    assert code == 143, said
    assert "stopping: what runs is ended" in said
    assert "Traceback" not in said
    assert "WARNING: Using incubator" not in said
    assert seconds < 90
    (report,) = (job / ".streamproof").rglob("report.json")
    found = json.loads(report.read_text())
    assert found["end"] == "interrupted"
    assert found["scenarios"]
    assert all(scenario["verdict"] == "pass" for scenario in found["scenarios"]), "what was killed is no scenario"


@pytest.mark.full
def test_before_there_is_a_plan_nothing_is_claimed(tmp_path: Path) -> None:
    job = shutil.copytree(JOB, tmp_path / "job")

    code, said, seconds = asked_to_end(job, "seed", signal.SIGINT)

    assert code == 130, said
    assert "Stopped before anything was finished: no report was written." in said
    assert "Traceback" not in said
    assert seconds < 60
