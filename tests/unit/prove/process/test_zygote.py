"""Processes of scenarios: they draw random numbers of their own, as processes that start do (R17), and none is waited for for ever."""

import os
import socket
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

from streamproof.prove.process.task import ChildResult, ChildTask, Door
from streamproof.prove.process.zygote import ChildDied, ChildHung, Zygote
from streamproof.prove.record.binding import ScenarioBinding

FORKS = """
import os
import numpy
from streamproof.prove.process import imported_once
from streamproof.prove.process import worker_daemon
FORK
for _ in range(2):
    child = os.fork()
    if child == 0:
        DRAW
        print(numpy.random.rand(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.parametrize(
    ("fork", "draw"),
    [("", "imported_once.draw_anew()"), ("worker_daemon.watch_forks()", "")],
    ids=["a scenario, which asks for it", "a worker, which pyspark forks"],
)
def test_r17_two_forks_draw_different_numbers(fork: str, draw: str) -> None:
    code = FORKS.replace("FORK", fork).replace("DRAW", draw or "pass")
    drawn = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert len(drawn) == len(set(drawn)) == 2


def _task(folder: Path, port: int) -> ChildTask:
    """A job whose JVM is said to be behind a port."""
    runner = {"runner": "streamproof.prove.subjects.job.child"}
    binding = ScenarioBinding(str(folder), folder, {}, None)
    return ChildTask(folder.name, runner, binding, str(folder), Door(port, "secret"))


def test_a_process_that_does_not_end_is_killed_and_one_that_dies_says_why(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, Zygote(tmp_path / "log") as zygote:
        hangs = zygote.submit(_task(tmp_path / "hangs", port=silent.getsockname()[1]), 4)
        dies = zygote.submit(_task(tmp_path / "dies", port=1), 60)

        with pytest.raises(ChildHung, match="did not end within 4 seconds"):
            hangs.result(60)
        with pytest.raises(ChildDied):
            dies.result(60)


def test_where_the_process_that_they_are_forked_from_ends_it_is_said_how(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, Zygote(tmp_path / "log") as zygote:
        waits = zygote.submit(_task(tmp_path / "waits", port=silent.getsockname()[1]))
        zygote._process.kill()

        with pytest.raises(ChildDied, match="has ended with -9"):
            waits.result(60)


def test_where_it_has_ended_before_the_first_scenario_it_is_said_why(tmp_path: Path) -> None:
    zygote = Zygote(tmp_path / "log", modules=["streamproof.no_module_is_called_so"])
    zygote._process.wait(60)

    with pytest.raises(ChildDied, match=r"has ended: ModuleNotFoundError: .*no_module_is_called_so"):
        zygote.submit(_task(tmp_path / "first", port=1)).result(60)


def test_when_the_proof_is_asked_to_end_what_runs_is_killed_and_nothing_begins(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, Zygote(tmp_path / "log") as zygote:
        hangs = zygote.submit(_task(tmp_path / "hangs", port=silent.getsockname()[1]), 300)

        zygote.end_all()

        with pytest.raises(ChildDied):
            hangs.result(30)
        with pytest.raises(ChildDied, match="asked to end"):
            zygote.submit(_task(tmp_path / "next", port=1)).result(0)
    zygote.end_all()  # also once it is closed


def test_what_imported_code_prints_is_no_end_of_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hello\\tworld', flush=True)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with Zygote(tmp_path / "log", modules=[]) as zygote, pytest.raises(ChildDied):
        zygote.submit(_task(tmp_path / "dies", port=1), 60).result(90)


def test_a_result_that_cannot_be_read_is_said_and_the_next_one_is_read(tmp_path: Path) -> None:
    with Zygote(tmp_path / "log", modules=[]) as zygote:
        task = _task(tmp_path / "cut-off", port=1)
        future: Future[ChildResult] = Future()
        Path(task.result).write_text('{"code": ')
        zygote._waiting["/cut"] = future, task
        zygote._hear("0\t/cut")
        with pytest.raises(ChildDied, match="its result cannot be read"):
            future.result(0)
