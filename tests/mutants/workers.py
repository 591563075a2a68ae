"""Processes that prove mutants, a JVM each; one that hangs or dies is replaced."""

import json
import os
import queue
import select
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants.catalogue import ROOT
from streamproof.core.clock import monotonic_seconds

PATIENCE_SECONDS = 1_800
ENDED = "the process that proved it has ended"


class Worker:
    """One process; it is started when it is first asked.

    Parameters
    ----------
    program
        What Python runs; it is told the number of a file that takes its answers, the folder `scratch`, and "services" or "files".
    """

    def __init__(
        self,
        scratch: Path,
        *,
        on_services: bool,
        program: Sequence[str] = ("-m", "mutants.worker"),
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._scratch, self._kind = scratch, "services" if on_services else "files"
        self._program, self.patience_seconds = program, patience_seconds
        self._process: subprocess.Popen[str] | None = None
        self._answers = -1

    def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What it answers; where it ends or does not answer in time, that as the `problem`."""
        if self._process is not None and self._process.poll() is not None:  # it died after its last answer
            self.close()
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(asked)}\n")
        self._process.stdin.flush()
        text, end = b"", monotonic_seconds() + self.patience_seconds
        while not text.endswith(b"\n"):
            if not select.select([self._answers], [], [], max(0.0, end - monotonic_seconds()))[0]:
                self.close(kill=True)
                return {"problem": f"no answer within {self.patience_seconds:g} seconds"}
            more = os.read(self._answers, 1 << 16)
            if not more:
                code = self._process.wait()  # it alone can write there
                self.close()
                return {"problem": f"{ENDED} with {code}"}
            text += more
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _start(self) -> None:
        self._answers, theirs = os.pipe()
        log = (self._scratch / f"worker-{theirs}.log").open("ab")
        here = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
        self._process = subprocess.Popen(
            [sys.executable, *self._program, str(theirs), str(self._scratch), self._kind],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            text=True,
            pass_fds=(theirs,),
            env={
                **os.environ,
                "PYTHONPATH": here,
                "SPARK_SUBMIT_OPTS": os.environ.get("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1"),
            },
        )
        log.close()
        os.close(theirs)

    def close(self, *, kill: bool = False) -> None:
        if self._process is None:
            return
        if kill:
            self._process.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        os.close(self._answers)
        self._process = None


@dataclass(frozen=True)
class Done:
    """An answer, and how long it took."""

    key: str
    answer: dict[str, Any]
    seconds: float


def ask_all(
    questions: Iterable[tuple[str, dict[str, Any]]],
    side_by_side: int,
    scratch: Path,
    tell: Callable[[Done], None],
    *,
    on_services: bool,
) -> None:
    """Asks every question, so many side by side; tells each answer as it comes."""
    left: queue.SimpleQueue[tuple[str, dict[str, Any]]] = queue.SimpleQueue()
    for question in questions:
        left.put(question)

    def work() -> None:
        worker = Worker(scratch, on_services=on_services)
        try:
            while True:
                try:
                    key, asked = left.get_nowait()
                except queue.Empty:
                    return
                began = monotonic_seconds()
                answer = worker.ask(asked)
                if ENDED in answer.get("problem", ""):  # it may have been ended from outside: a mutant that does it does it again
                    answer = worker.ask(asked)
                tell(Done(key, answer, monotonic_seconds() - began))
        finally:
            worker.close()

    with ThreadPoolExecutor(side_by_side) as threads:
        for done in [threads.submit(work) for _ in range(side_by_side)]:
            done.result()
