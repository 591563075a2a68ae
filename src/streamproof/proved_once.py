"""The proofs of a test session: a job is recorded once and proved once, by whichever process needs it first; the others read what it found.

A proof takes two cores and some gigabytes, so that one runs at a time, however many processes the session has.
"""

import fcntl
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamproof.errors import StreamproofError
from streamproof.report import store
from streamproof.report.shape import Report, ScenarioEntry

FAULT_FREE = "fault-free"


@dataclass(frozen=True)
class Job:
    """What is to be proved, and how: the arguments of `streamproof.prove` that `streamproof.proof.plan` takes too."""

    target: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for equal jobs, in every process."""
        return hashlib.sha256(json.dumps([self.target, self.options], sort_keys=True, default=repr).encode()).hexdigest()[:12]


class NotProved(Exception):
    """A job cannot be recorded or proved at all; the text says why."""


@dataclass(frozen=True)
class Proved:
    """What a proof of some scenarios has found, and the folder of its report."""

    report: Report
    folder: Path

    @property
    def page(self) -> str:
        return str(self.folder / store.HTML)

    def scenario(self, name: str) -> ScenarioEntry | None:
        return next((entry for entry in self.report["scenarios"] if entry["id"] == name), None)


class Proofs:
    """The proofs of one session; `folder` is shared by its processes, and goes with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._proved: dict[tuple[str, tuple[str, ...]], Proved] = {}

    def ids(self, job: Job) -> list[str]:
        """The scenarios of a job's plan: the run without a fault, and every crash.

        Raises
        ------
        NotProved
            If the job cannot be recorded.
        """

        def listed() -> Any:
            from streamproof.proof import plan

            return [FAULT_FREE, *plan(job.target, **job.options).ids]

        found: list[str] = self._once(f"{job.key}.plan", listed)
        return found

    def proved(self, job: Job, wanted: Sequence[str], *, progress: bool = False) -> Proved:
        """What the proof of these scenarios found; of all of them where none is named.

        Raises
        ------
        NotProved
            If the job cannot be proved.
        """
        key = job.key, tuple(sorted(wanted))
        if key not in self._proved:
            name = f"{job.key}.{hashlib.sha256(repr(key).encode()).hexdigest()[:12]}"
            folder = Path(self._once(name, lambda: self._prove(job, wanted, progress=progress)))
            self._proved[key] = Proved(store.load(folder), folder)
        return self._proved[key]

    @staticmethod
    def _prove(job: Job, wanted: Sequence[str], *, progress: bool) -> str:
        from streamproof.proof import prove

        return str(prove(job.target, **job.options, scenarios=tuple(wanted), progress=progress).folder)

    def _once(self, name: str, do: Callable[[], Any]) -> Any:
        """What `do` gives, in the first process that asks; the others wait for it."""
        path = self.folder / f"{name}.json"
        with self._alone():
            if path.exists():
                found = json.loads(path.read_text())
            else:
                try:
                    found = {"found": do()}
                except StreamproofError as problem:
                    found = {"problem": str(problem)}
                path.write_text(json.dumps(found))
        if "problem" in found:
            raise NotProved(found["problem"])
        return found["found"]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
