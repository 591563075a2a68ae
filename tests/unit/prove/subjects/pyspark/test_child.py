"""How a job was stopped is one sentence: which line of whose code, or what Spark says, and never a stack trace."""

import threading
import time
from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException, PythonException, StreamingQueryException

from streamproof.errors import ScenarioError
from streamproof.prove.process.machine import MACHINE
from streamproof.prove.process.task import JOB_RAISED
from streamproof.prove.subjects.pyspark import child
from streamproof.prove.subjects.pyspark.child import _stopped, _until_done

TASK = """[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred. Return Message: Traceback (most recent call last):
  File "/opt/python3.11/site-packages/pyspark/worker.py", line 900, in main
    process()
  File "/jobs/job.py", line 3, in rate
    return {}[user]
KeyError: 'u17'
"""


def test_what_a_task_raised_is_said_by_its_line_and_without_the_value():
    for problem in (PythonException(TASK), StreamingQueryException(TASK)):
        result = _stopped(problem, [])

        assert (result.code, result.message) == (JOB_RAISED, "The query stopped: KeyError in rate (/jobs/job.py, line 3).")
        assert "u17" not in result.remedy


@pytest.mark.parametrize(
    "said",
    [
        "java.io.IOException: No space left on device",
        "java.io.FileNotFoundException: /x (Too many open files)",
        "[FOREACH_BATCH_USER_FUNCTION_ERROR] Reason: Error while obtaining a new communication channel",
        "org.apache.spark.SparkException: Python worker failed to connect back.",
    ],
)
def test_what_the_machine_does_is_no_fault_of_the_job(said):
    assert _stopped(StreamingQueryException(said), []).code == MACHINE


def test_what_spark_says_itself_is_said_in_its_first_line():
    result = _stopped(AnalysisException("[UNSUPPORTED_STREAMING] not so\n+- Project [id]\n"), [])

    assert (result.code, result.message) == (JOB_RAISED, "AnalysisException: [UNSUPPORTED_STREAMING] not so.")


def test_what_a_proof_refuses_keeps_its_remedy():
    result = _stopped(ScenarioError("The job reads rate.", remedy="Give a sample."), [])

    assert (result.message, result.remedy) == ("The job reads rate.", "Give a sample.")


def test_a_fault_of_the_proof_is_not_put_down_to_the_job():
    with pytest.raises(ZeroDivisionError):
        _stopped(ZeroDivisionError(), [])


def test_a_job_that_works_between_two_queries_is_waited_for_and_one_that_sleeps_is_not(monkeypatch):
    monkeypatch.setattr(child, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(child, "_GRACE_SECONDS", 0.1)
    started = SimpleNamespace(queries=[("first", SimpleNamespace(isActive=False))])
    enough, sleeps = threading.Event(), threading.Event()
    until = time.monotonic() + 0.5

    def works():
        while time.monotonic() < until:
            sum(range(1_000))
        enough.set()

    for thread in (threading.Thread(target=works, daemon=True), threading.Thread(target=sleeps.wait, daemon=True)):
        thread.start()
        _until_done(thread, started)

    assert enough.is_set()
    assert thread.is_alive(), "it is left to itself"
    sleeps.set()
