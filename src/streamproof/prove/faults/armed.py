"""Runs of the job with something armed at one of their steps: a death, a report, a task that is tried again, a full disk."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from streamproof.core.ids import new_id, short
from streamproof.errors import DiskFull
from streamproof.prove.process.children import Children, Run
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.machine import MachineDid
from streamproof.prove.process.task import ChildResult, Conditions
from streamproof.prove.record import journal as journals
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.live import Action, Arming
from streamproof.prove.record.recording import Recording

_LIKE_THE_MACHINE = {Action.ENOSPC: DiskFull.code}
"""With which code a job is stopped by what is armed, where elsewhere the code means that the machine of the proof did it."""


@dataclass
class ArmedRun:
    """The job on a file system that does what is armed when it comes to the step.

    Parameters
    ----------
    identity
        That of the file system's recording.
    binding
        The scenario, reached through it.
    recording
        The run that has shown the step.
    journal
        The folder of what is written down.
    action
        What is armed.
    """

    identity: str
    binding: ScenarioBinding
    recording: Recording
    journal: Path
    action: Action
    _engine: Engine
    _children: Children
    _starts: "count[int]" = field(default_factory=lambda: count(1))
    _closed: bool = False

    def start(self, *, read_state: bool = True, crash_at: str = "", desk: str = "", struck: bool = False) -> ChildResult:
        """Runs the job to its end, or until it stops; what it is told is as in `Conditions` and `Children.start`.

        Raises
        ------
        MachineDid
            If the machine stopped it, and not what is armed.
        """
        running = self._children.start(
            f"{self.identity}-{next(self._starts)}",
            self.binding,
            Conditions(read_state=read_state, crash_at=crash_at, desk=desk),
            recording=self.recording,
            struck=struck,
        )
        try:
            return running.result()
        except MachineDid as did:
            if did.code != _LIKE_THE_MACHINE.get(self.action) or not self.fired:
                raise
            return ChildResult(did.code, str(did))

    @property
    def fired(self) -> bool:
        """Whether what is armed was done; to be asked before `attempts`."""
        return self._engine.fired(self.identity)

    def attempts(self, batch: int) -> int:
        """How many attempts of one task have written something in a batch, at most. Nothing is run here any more after that."""
        self.close()
        return journals.attempts(journals.read(self.journal, self.binding.folder), batch)

    def close(self) -> None:
        """What is armed is armed no more."""
        if not self._closed:
            self._closed = True
            self._engine.close_recording(self.identity)


class ArmedRuns:
    """Those of one proof."""

    def __init__(self, run: Run, children: Children) -> None:
        self._run, self._children = run, children
        # Never the same id twice in one JVM: threads of an earlier proof would write into the new recording.
        self._life, self._numbers = short(new_id()), count(1)

    @contextmanager
    def armed(self, arming: Arming, recording: Recording, binding: ScenarioBinding, *, told: str = "") -> Iterator[ArmedRun]:
        """The scenario with this armed as long as the context lasts; `told` is what a step reports, where it is armed to report."""
        engine, identity = self._run.engine, f"a{self._life}-{next(self._numbers)}-{binding.folder.name}"
        folder = self._run.folder / identity
        recorded = replace(binding, base=f"sp-record://{identity}{binding.folder}")
        engine.open_recording(identity, folder)
        run = ArmedRun(identity, recorded, recording, folder, arming.action, engine, self._children)
        try:
            if told:
                engine.arm_call(identity, *arming.place(), told)
            else:
                engine.arm(identity, *arming.arguments())
            yield run
        finally:
            run.close()
            shutil.rmtree(folder, ignore_errors=True)
