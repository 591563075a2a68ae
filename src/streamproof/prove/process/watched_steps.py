"""Steps outside the recorded file system: written down as they are taken, and where the process dies."""

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pyspark import TaskContext

from streamproof.connectors.steps import Steps
from streamproof.core.phases import StepName
from streamproof.prove.process.desk import report

FIRED = "fired"
_BY_TASK = " by a task"


@dataclass(frozen=True)
class WatchedSteps(Steps):
    """Writes each step to a file; at one of them it kills the driver, and the task that takes the step, or reports to a desk and waits.

    Parameters
    ----------
    journal
        The file; a line a step.
    crash_at
        The step to die at; empty for none.
    driver
        The process that runs the job; a task runs in another.
    desk
        Where to report, as `process.desk` says; empty for a death.
    """

    journal: str
    crash_at: str
    driver: int
    desk: str = ""

    def reached(self, step: StepName) -> None:
        with Path(self.journal).open("a") as written:
            written.write(f"{step}{_BY_TASK if TaskContext.get() is not None else ''}\n")
        if str(step) != self.crash_at:
            return
        if self.desk:
            report(self.desk, _jvm_of_task())
        else:
            Path(f"{self.journal}.{FIRED}").touch()
            if self.driver != os.getpid():  # first: the driver must not see its task die
                os.kill(self.driver, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)


def _jvm_of_task() -> int:
    """The JVM whose Python worker this is: its daemon's parent; 0 on the driver."""
    if TaskContext.get() is None:
        return 0
    return int(subprocess.run(["ps", "-o", "ppid=", "-p", str(os.getppid())], capture_output=True, text=True, check=True).stdout)


def steps_in(journal: Path) -> list[StepName]:
    """The steps that a run has taken, in their order."""
    return [StepName.parse(line.removesuffix(_BY_TASK)) for line in _lines(journal)]


def steps_of_tasks(journal: Path) -> frozenset[StepName]:
    """Those of them that tasks have taken."""
    return frozenset(StepName.parse(line.removesuffix(_BY_TASK)) for line in _lines(journal) if line.endswith(_BY_TASK))


def _lines(journal: Path) -> list[str]:
    return journal.read_text().splitlines() if journal.exists() else []
