"""The proving process's side of the zygote: hands out tasks, waits for scenarios."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from streamproof.prove.process.apart import own_places
from streamproof.prove.process.machine import CODES, MachineDid
from streamproof.prove.process.task import ChildResult, ChildTask
from streamproof.prove.process.zygote_main import KILL


class ChildDied(Exception):
    """A scenario's process ended without a result; the text says how."""

    code = "child-died"


class ChildHung(Exception):
    """A scenario's process did not end in time and was killed; the text says when. `fired` is whether its fault had been done."""

    code = "job-hangs"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it did not end within {seconds:,.0f} seconds")
        self.fired = False


def environment_of_children(python_path: str | None) -> dict[str, str]:
    """The environment variables of every process that runs the job in a proof."""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        **own_places(),
    }
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    return environment


def _settle(future: "Future[ChildResult]", result: ChildResult) -> None:
    """What the machine did is no result of the job: nobody who waits for one may take it for a failure."""
    if result.code in CODES:
        future.set_exception(MachineDid(result.code, result.message))
    else:
        future.set_result(result)


class Zygote:
    """Runs tasks in forked processes; use it as a subject manager.

    Parameters
    ----------
    log
        Where the children's output goes.
    python_path
        Another place to import Streamproof from in the children: how the harness is tried on a broken product.
    modules
        What is imported once, before the first scenario.
    """

    def __init__(self, log: Path, python_path: str | None = None, modules: Sequence[str] = ()) -> None:
        self._log = log.open("wb")
        self._waiting: dict[str, tuple[Future[ChildResult], ChildTask]] = {}
        self._given_up: dict[str, float] = {}
        self._lock = threading.Lock()
        self._ended, self._read_on = False, True
        self.environment = environment_of_children(python_path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamproof.prove.process.zygote_main", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=self.environment,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="zygote-reader", daemon=True)
        self._reader.start()

    def submit(self, task: ChildTask, patience: float | None = None) -> "Future[ChildResult]":
        """Starts a task; its result comes as a future.

        Its exception is ChildDied, MachineDid where the machine stopped the job, or ChildHung once the patience (seconds) is over.
        """
        future: Future[ChildResult] = Future()
        if self._ended:
            future.set_exception(ChildDied("the proof was asked to end"))
            return future
        path = f"{task.result}.task"
        Path(path).write_text(task.to_json())
        with self._lock:
            read_on = self._read_on
            if read_on:
                self._waiting[path] = (future, task)
        if not read_on:
            future.set_exception(ChildDied(f"the process that scenarios are forked from has ended: {self._said_last()}"))
            return future
        try:
            self._say(path)
        except BrokenPipeError:  # else it would be taken for a terminal that is gone, and nothing would be said
            with self._lock:
                if self._waiting.pop(path, None) is not None:
                    future.set_exception(ChildDied(f"the process that scenarios are forked from has ended: {self._said_last()}"))
            return future
        if patience is not None:
            timer = threading.Timer(patience, self._give_up, (path, patience))
            timer.daemon = True
            timer.start()
            future.add_done_callback(lambda _: timer.cancel())
        return future

    def _give_up(self, path: str, patience: float) -> None:
        with self._lock:
            if path not in self._waiting:
                return
            self._given_up[path] = patience
        self._say(f"{KILL}{path}")

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def _said_last(self) -> str:
        lines = Path(self._log.name).read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def end_all(self) -> None:
        """Kills every scenario that runs, and starts none any more; whoever waits for one gets ChildDied."""
        self._ended = True
        with self._lock:
            running = tuple(self._waiting)
        with suppress(OSError, ValueError):  # it has ended, or was closed
            for path in running:
                self._say(f"{KILL}{path}")

    def close(self) -> None:
        """Ends the zygote and every scenario that still runs."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=10)
        self._log.close()

    def __enter__(self) -> "Zygote":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _read(self) -> None:
        """Settles what ends; whatever becomes of this thread, nobody waits for it."""
        how = "is not understood any more"
        try:
            assert self._process.stdout is not None
            for line in self._process.stdout:
                self._hear(line.decode(errors="replace").rstrip("\n"))
            how = f"has ended with {self._process.wait()}"  # it alone can write there
        finally:
            with self._lock:
                self._read_on = False
                left = [future for future, _ in self._waiting.values()]
                self._waiting.clear()
            for future in left:
                self._fail(future, ChildDied(f"the process that scenarios are forked from {how}"))

    def _hear(self, line: str) -> None:
        """A line "EXIT TASK"; any other is of what is imported there, and is none."""
        code, _, path = line.partition("\t")
        with self._lock:
            if path not in self._waiting:
                return
            future, task = self._waiting.pop(path)
            patience = self._given_up.pop(path, None)
        try:
            result = Path(task.result)
            if code == "0" and result.is_file():
                _settle(future, ChildResult.from_json(result.read_text()))
            elif patience is not None:
                self._fail(future, ChildHung(patience))
            else:
                error = Path(path + ".error")
                self._fail(future, ChildDied(error.read_text() if error.is_file() else f"exit code {code}"))
        except (OSError, ValueError, TypeError, KeyError) as problem:  # a result that is cut off, on a full disk for instance
            self._fail(future, ChildDied(f"its result cannot be read: {type(problem).__name__}: {problem}"))

    @staticmethod
    def _fail(future: "Future[ChildResult]", problem: Exception) -> None:
        with suppress(InvalidStateError):  # somebody has given it up
            future.set_exception(problem)
