"""A JVM that is killed: whatever the run is doing, it ends with 75 and a few lines, and the next run goes on."""

import json
import subprocess
import sys

import pytest

from full_tables import beyond
from spark.small_job import SUMS, WINDOWED, SmallJob, event
from streamproof.core.account import Account

COMMAND = """
import functools, os, signal, sys, threading, time
from importlib import import_module
from pathlib import Path

def kill():
    from pyspark import SparkContext
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)

def kill_the_child():
    "The JVM has not spoken yet: it is found among the children of this process."
    mine = Path(f"/proc/{os.getpid()}/task")
    while True:
        for child in " ".join(file.read_text() for file in mine.glob("*/children")).split():
            if b"SparkSubmit" in Path(f"/proc/{child}/cmdline").read_bytes():
                return os.kill(int(child), signal.SIGKILL)
        time.sleep(0.01)

def kills(place, when):
    "Has a function of the product kill the JVM before it begins, or once it is done."
    module, _, name = place.partition(":")
    *inside, name = name.split(".")
    owner = functools.reduce(getattr, inside, import_module(module))
    works = getattr(owner, name)
    def killing(*given, **named):
        if when == "before":
            kill()
        try:
            return works(*given, **named)
        finally:
            if when == "after":
                kill()
    setattr(owner, name, killing)

place, when, *words = sys.argv[1:]
if place == "child":
    threading.Thread(target=kill_the_child, daemon=True).start()
else:
    kills(place, when)
from streamproof.cli.main import main
sys.exit(main(words))
"""

PHASES = {
    "in a staging write": ("streamproof._jvm.batches:BatchRows.write", "before"),
    "while Spark starts": ("child", ""),
    "when Spark has started": ("streamproof.runtime.run:bind", "before"),
    "while the checkpoint is looked at": ("streamproof.runtime.start.query:validate", "before"),
    "while the plan is made": ("streamproof.runtime.start.plan:build", "before"),
    "when a batch is planned": ("streamproof.runtime.batch.protocol:BatchProtocol.run", "before"),
    "when a batch is staged": ("streamproof.runtime.batch.deciding:Deciding.decide", "before"),
    "while it is published": ("streamproof.connectors.files.sink:FileSink.publish", "before"),
    "while it is committed": ("streamproof.runtime.batch.protocol:BatchProtocol.run", "after"),
    "while the run waits": ("streamproof.runtime.run:_wait", "after"),
    "at the end": ("streamproof.runtime.batch.protocol:BatchProtocol.finish", "before"),
    "while the account is counted": ("streamproof.runtime.run:summary", "before"),
}


def killed(job: SmallJob, phase: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", COMMAND, *PHASES[phase], *(words or ("run", str(job.folder)))]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=job.folder)


def assert_told(ended: subprocess.CompletedProcess[str]) -> None:
    assert ended.returncode == 75, f"{ended.stdout}\n{ended.stderr}"
    assert "error  The JVM is gone: it was killed, or ran out of memory." in ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout
    assert "WARNING" not in ended.stderr, "Java's own lines go to the log"


@pytest.mark.parametrize("phase", beyond(1, PHASES))
def test_wherever_the_jvm_is_killed_the_run_is_75_and_the_next_one_goes_on(small_job, phase):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])

    assert_told(killed(job, phase))

    assert job.run().account == Account(open_state=1, rejected=1)


@pytest.mark.full
@pytest.mark.parametrize("phase", ["while Spark starts", "while the plan is made"])
def test_a_bounded_run_and_a_comparison_say_the_same(small_job, tmp_path, phase):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])

    assert_told(killed(job, phase, "run", str(job.folder), "--bounded"))

    if phase == "while Spark starts":
        for side in ("a", "b"):
            (tmp_path / side).mkdir()
            (tmp_path / side / "rows.json").write_text(json.dumps({"v": 1}))
        assert_told(killed(job, phase, "diff", str(tmp_path / "a"), str(tmp_path / "b")))
