"""A crash in a service kills the driver before the task: no handler of the driver's sees the task die."""

import os
import signal
from pathlib import Path

import pytest

from streamproof.core.phases import StepName
from streamproof.prove.process.watched_steps import WatchedSteps


def ends(process: int) -> int:
    """The signal that ends a child."""
    return os.WTERMSIG(os.waitpid(process, 0)[1])


def idle(remainder: int) -> int:
    """A child that waits for its end, whose number has this remainder of eight: sets of few numbers are in the order of that."""
    while True:
        if (process := os.fork()) == 0:
            signal.pause()
        if process % 8 == remainder:
            return process
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


@pytest.mark.parametrize("remainder", [0, 3, 7])
def test_driver_and_task_are_killed_the_driver_first(tmp_path: Path, remainder: int):
    driver = idle(remainder)
    if (task := os.fork()) == 0:
        WatchedSteps(str(tmp_path / "steps"), "publish/kept@0:before", driver).reached(StepName.parse("publish/kept@0:before"))
        os._exit(0)

    assert ends(task) == signal.SIGKILL
    os.kill(driver, signal.SIGTERM)  # too late for one that was killed
    assert ends(driver) == signal.SIGKILL
    assert (tmp_path / "steps.fired").exists()
