"""A JVM that the system kills costs a proof what it had not tried yet, and nothing else."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

JOB = Path(__file__).parent / "jobs" / "full_plan"
PROOF = """
import sys
from pyspark import SparkContext
from streamproof.proof import prove
from streamproof.prove.events import Recorded
from streamproof.prove.process import apart

apart.stay_here()  # its JVM is then that of this process

def kill(event):
    if isinstance(event, Recorded):
        SparkContext._gateway.proc.kill()

report = prove(sys.argv[1], only="publish/exposure@2:after,publish/exposure@2:before", listener=kill).report
print(report["verdict"], *(scenario["verdict"] for scenario in report["scenarios"]))
print(report["scenarios"][-1]["checks"][0])
"""


@pytest.mark.full
def test_a_proof_whose_jvm_is_killed_keeps_what_it_has_and_says_so(tmp_path: Path) -> None:
    """In a process of its own: the JVM of this one stays warm for other tests."""
    job = shutil.copytree(JOB, tmp_path / "job")

    ended = subprocess.run([sys.executable, "-c", PROOF, str(job)], capture_output=True, text=True, check=False, timeout=300)

    verdicts, _, check = ended.stdout.strip().partition("\n")
    assert verdicts.split()[:2] == ["unknown", "pass"], ended.stderr[-2_000:]
    assert set(verdicts.split()[2:]) == {"unknown"}
    assert "the JVM of the proof has ended" in check


@pytest.mark.full
def test_before_there_is_a_plan_it_is_an_error_that_a_restart_mends(tmp_path: Path) -> None:
    job = shutil.copytree(JOB, tmp_path / "job")
    code = """
import sys
from pyspark import SparkContext
from streamproof.cli.main import main
from streamproof.prove.execution import Executor

def record(*_, **__):
    SparkContext._gateway.proc.kill()
    return works(*_, **__)

works, Executor.record = Executor.record, record
sys.exit(main(["prove", sys.argv[1], "--quick"]))
"""
    ended = subprocess.run([sys.executable, "-c", code, str(job)], capture_output=True, text=True, check=False, timeout=300)

    assert ended.returncode == 75, ended.stderr[-2_000:]
    assert "error  The JVM is gone: it was killed, or ran out of memory." in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "WARNING" not in ended.stderr
