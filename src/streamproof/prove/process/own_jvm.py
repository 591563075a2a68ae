"""The job in a process and a JVM of its own: one that can be killed, that is a second driver, or that works on a cluster."""

import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamproof.prove.process import guard
from streamproof.prove.process.child import run_on
from streamproof.prove.process.engine import java_options, keep
from streamproof.prove.process.machine import CODES, MachineDid
from streamproof.prove.process.runners import runner_of
from streamproof.prove.process.spark_settings import settings_of_proof
from streamproof.prove.process.task import ChildResult, ChildTask
from streamproof.prove.process.zygote import ChildDied, ChildHung

MEMORY = "640m"
_DEAD_SECONDS = 60.0
_started: "weakref.WeakSet[subprocess.Popen[bytes]]" = weakref.WeakSet()
_OF_THE_PROCESS = ("spark.hadoop.", "spark.local.", "spark.master", "spark.executor.")


def started(task: ChildTask, environment: Mapping[str, str], log: Any) -> "subprocess.Popen[bytes]":
    """The process; its standard output ends when the JVM, which has the same, has ended too."""
    path = Path(f"{task.result}.task")
    path.write_text(task.to_json())
    process = subprocess.Popen(
        [sys.executable, "-m", "streamproof.prove.process.own_jvm", str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        env=dict(environment),
        start_new_session=True,
    )
    _started.add(process)
    return process


def end_all() -> None:
    """Kills every such process that runs, with its JVM: the proof was asked to end."""
    for process in tuple(_started):
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def until_silent(process: "subprocess.Popen[bytes]") -> None:
    """Until no process of a killed group holds its standard output any more: the JVM has the same, and the disk is at rest then.

    Raises
    ------
    ChildDied
        If a process that has left the group keeps it.
    """
    try:
        process.communicate(timeout=_DEAD_SECONDS)
    except subprocess.TimeoutExpired:
        raise ChildDied(
            f"something that the job has started goes on {_DEAD_SECONDS:.0f} seconds after the job was killed"
        ) from None


def finished(task: ChildTask, environment: Mapping[str, str], log: Path, patience: float) -> ChildResult:
    """Runs a task to its end, for at most `patience` seconds.

    Raises
    ------
    ChildDied, ChildHung, MachineDid
        If the process ended without a result, did not end, or was stopped by the machine.
    """
    with log.open("ab") as written:
        process = started(task, environment, written)
        try:
            process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            until_silent(process)
            raise ChildHung(patience) from None
    result = Path(task.result)
    if not result.is_file():
        raise ChildDied(f"exit code {process.returncode}; {log.read_text(errors='replace')[-2_000:]}")
    found = ChildResult.from_json(result.read_text())
    if found.code in CODES:
        raise MachineDid(found.code, found.message)
    return found


def run(task: ChildTask) -> ChildResult:
    """In the child: a Spark of its own, with the proof's settings and those of the task."""
    from streamproof.runtime.spark.session import start_session

    guard.install(task.limits)
    own = {key: value for key, value in task.conditions.settings.items() if key.startswith(_OF_THE_PROCESS)}
    own_kind = runner_of(task)
    wanted, jars = own_kind.spark_of(task)
    settings = {**settings_of_proof(wanted, own_kind.STANDS_ON), **own, "spark.driver.memory": MEMORY}
    spark = start_session(task.id, settings, proof=True, java_options=java_options(), jars=jars, streaming={})
    spark.sparkContext.setLogLevel("OFF")
    keep(spark, task.limits)
    sql = {key: value for key, value in task.conditions.settings.items() if key not in own}
    result = run_on(spark, replace(task, conditions=replace(task.conditions, settings=sql)))
    spark.stop()
    return result


if __name__ == "__main__":
    asked = ChildTask.from_json(Path(sys.argv[1]).read_text())
    ended = run(asked)
    sys.stderr.write(f"the job ended: {ended}\n")
    Path(asked.result).write_text(ended.to_json())
