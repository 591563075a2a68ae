"""`check` calls the job function: in a process of its own, without Spark, with a time limit."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LONGEST_SECONDS = 30.0
"""On a busy machine importing PySpark alone has taken ten."""


@dataclass(frozen=True)
class Keeping:
    """An operator that keeps state, as the job has called it.

    Parameters
    ----------
    call
        The call that asks for it, "deduplicate()".
    by
        The columns by whose values its rows come together.
    sources
        Whose rows come to it.
    lateness_seconds
        How much longer than the watermark's delay it takes rows.
    for_ever
        What it never forgets, in words; empty where time frees all that it holds.
    """

    call: str
    by: tuple[str, ...]
    sources: tuple[str, ...]
    lateness_seconds: float
    for_ever: str


@dataclass(frozen=True)
class Steps:
    """What a query of the job does, as far as it is known without Spark: its name, its sources, what keeps state, and the tables that it looks rows up in."""

    query: str
    sources: tuple[str, ...]
    keeping: tuple[Keeping, ...]
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rehearsed:
    """What calling the job showed.

    Parameters
    ----------
    outputs
        The names of the outputs that it returned.
    problem
        Why it cannot run so, with place and remedy; empty where nothing was found.
    not_called
        Why nothing can be said from here, such as that the file asks for a session while it is imported.
    notes
        What is worth knowing of a job that can run.
    unseen
        What calling it could not look at: transforms, SQL texts, columns that nobody knows without Spark.
    steps
        What each query does; none where the job could not be called.
    """

    outputs: tuple[str, ...] = ()
    problem: str = ""
    not_called: str = ""
    notes: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    steps: tuple[Steps, ...] = field(default=(), compare=False)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Rehearsed":
        found = json.loads(text)
        steps = tuple(_steps(one) for one in found["steps"])
        return cls(
            tuple(found["outputs"]), found["problem"], found["not_called"], tuple(found["notes"]), tuple(found["unseen"]), steps
        )


def _steps(found: dict[str, Any]) -> Steps:
    keeping = tuple(
        Keeping(one["call"], tuple(one["by"]), tuple(one["sources"]), one["lateness_seconds"], one["for_ever"])
        for one in found["keeping"]
    )
    return Steps(found["query"], tuple(found["sources"]), keeping, tuple(found["tables"]))


@contextmanager
def rehearsing(target: str | Path, profile: str | None, *, seconds: float = LONGEST_SECONDS) -> Iterator[Callable[[], Rehearsed]]:
    """Imports the job's file and calls its function beside what is done meanwhile; gives what waits for the answer, at most so long.

    Nothing of it stays in this process, and no JVM is started.
    """
    with tempfile.TemporaryDirectory(prefix="streamproof-") as folder:
        answer = Path(folder, "answer.json")
        # -P and -B: no folder that the command line would not have on its path either, and no bytecode beside the job.
        command = [
            sys.executable,
            "-P",
            "-B",
            "-m",
            "streamproof.runtime.checks.rehearse_main",
            str(answer),
            str(target),
            profile or "",
        ]
        silent = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent)

        def answered() -> Rehearsed:
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                return Rehearsed(not_called=f"importing the file and calling the job takes longer than {seconds:g} seconds")
            if not answer.exists():
                return Rehearsed(problem=f"importing the file, or calling the job, ended the process (exit code {code}).")
            return Rehearsed.from_json(answer.read_text(encoding="utf-8"))

        try:
            yield answered
        finally:
            process.kill()
            process.wait()
