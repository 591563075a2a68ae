"""Steps outside the recorded file system: written down as they are taken, and where the process dies."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from streamproof.connectors.steps import Steps
from streamproof.core.phases import StepName

FIRED = "fired"


@dataclass(frozen=True)
class WatchedSteps(Steps):
    """Writes each step to a file, and kills the driver, and the task that takes the step, at one of them.

    Parameters
    ----------
    journal
        The file; a line a step.
    crash_at
        The step to die at; empty for none.
    driver
        The process that runs the job; a task runs in another.
    """

    journal: str
    crash_at: str
    driver: int

    def reached(self, step: StepName) -> None:
        with Path(self.journal).open("a") as written:
            written.write(f"{step}\n")
        if str(step) == self.crash_at:
            Path(f"{self.journal}.{FIRED}").touch()
            for process in {self.driver, os.getpid()}:
                os.kill(process, signal.SIGKILL)


def steps_in(journal: Path) -> list[StepName]:
    """The steps that a run has taken, in their order."""
    return [StepName.parse(line) for line in journal.read_text().splitlines()] if journal.exists() else []
