"""What is waited for has a limit, and says so."""

import signal
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.errors import EnvironmentProblem, LabError
from streamproof.lab.process import done_within
from streamproof.prove.process import engine, own_jvm, packages
from streamproof.prove.process.zygote import ChildDied


def test_a_program_of_a_service_that_does_not_end_is_killed_and_named() -> None:
    command = [sys.executable, "-c", "import time; print('at work', flush=True); time.sleep(60)"]

    with pytest.raises(LabError, match="Making a storage has not ended within 2 seconds"):
        done_within(2, "Making a storage", command)


def test_packages_that_are_not_fetched_in_time_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_SCRIPT", "import time; time.sleep(60)")
    monkeypatch.setattr(packages, "_FETCH_SECONDS", 1.0)

    with pytest.raises(EnvironmentProblem, match="has not fetched a:b:1 within 1 seconds"):
        packages._by_spark({packages.PACKAGES: "a:b:1"})


def test_what_outlives_a_killed_job_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_jvm, "_DEAD_SECONDS", 1.0)
    left = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'], start_new_session=True)"
    with subprocess.Popen([sys.executable, "-c", left], stdout=subprocess.PIPE) as process:
        process.wait(20)
        with pytest.raises(ChildDied, match="goes on 1 seconds after the job was killed"):
            own_jvm.until_silent(process)


def test_a_jvm_that_does_not_end_by_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark import SparkContext

    deaf = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdin=subprocess.PIPE)
    conf = SimpleNamespace(get=lambda *_: engine.PROOF_JAR.name)
    context: Any = SimpleNamespace(getConf=lambda: conf, stop=lambda: None)
    monkeypatch.setattr(SparkContext, "_active_spark_context", context)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(shutdown=lambda: None, proc=deaf))
    monkeypatch.setattr(SparkContext, "_jvm", None)

    monkeypatch.setattr(engine, "_END_SECONDS", 2.0)
    engine._end_jvm_without(["other.jar"])

    assert deaf.returncode == -signal.SIGKILL
