"""The proving process's side of the zygote: hands out tasks, waits for scenarios."""

import os
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType

from streamproof.prove.child import ChildResult, ChildTask


class ChildDied(Exception):
    """A scenario's process ended without a result; the text says how."""


class ChildHung(ChildDied):
    """A scenario's process did not end and was killed: it would have gone on for ever."""


def environment_of_children(python_path: str | None) -> dict[str, str]:
    """The environment variables of every process that runs the job in a proof."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    return environment


class Zygote:
    """Runs tasks in forked processes; use it as a context manager.

    Parameters
    ----------
    log
        Where the children's output goes.
    python_path
        Another place to import Streamproof from in the children: how the harness is tried on a broken product.
    """

    def __init__(self, log: Path, python_path: str | None = None) -> None:
        self._log = log.open("wb")
        self._waiting: dict[str, tuple[Future[ChildResult], ChildTask]] = {}
        self._lock = threading.Lock()
        self.environment = environment_of_children(python_path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamproof.prove.zygote_main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=self.environment,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="zygote-reader", daemon=True)
        self._reader.start()

    def submit(self, task: ChildTask) -> "Future[ChildResult]":
        """Starts a task; its result comes as a future, ChildDied as its exception."""
        future: Future[ChildResult] = Future()
        path = Path(task.result + ".task")
        path.write_text(task.to_json())
        with self._lock:
            self._waiting[str(path)] = (future, task)
        assert self._process.stdin is not None
        self._process.stdin.write(f"{path}\n".encode())
        self._process.stdin.flush()
        return future

    def close(self) -> None:
        """Ends the zygote and every scenario that still runs."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._log.close()

    def __enter__(self) -> "Zygote":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            code, _, path = line.decode().rstrip("\n").partition("\t")
            with self._lock:
                future, task = self._waiting.pop(path)
            result = Path(task.result)
            if code == "0" and result.is_file():
                future.set_result(ChildResult.from_json(result.read_text()))
            else:
                error = Path(path + ".error")
                said = error.read_text() if error.is_file() else f"exit code {code}"
                future.set_exception(ChildDied(said))
        with self._lock:
            for future, _ in self._waiting.values():
                future.set_exception(ChildDied("the process that scenarios are forked from has ended"))
            self._waiting.clear()
