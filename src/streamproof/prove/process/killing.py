"""`kill -9`: the job in a process and a JVM of its own, killed while it stands still at a named step (R20, live)."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.core.clock import monotonic_seconds
from streamproof.core.phases import StepName
from streamproof.prove.process.engine import local_files
from streamproof.prove.process.own_jvm import started, until_silent
from streamproof.prove.process.task import ChildTask
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.live import MARKER, Action, arming

if TYPE_CHECKING:
    from streamproof.prove.record.recording import Recording

MakeTask = Callable[[str, ScenarioBinding, "Recording"], ChildTask]

_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 180.0


def kill_at(
    work: Path,
    recording: "Recording",
    step: StepName,
    binding: ScenarioBinding,
    make_task: MakeTask,
    environment: Mapping[str, str],
) -> bool:
    """Runs the job in a JVM of its own until it stands still at the step, then kills the process group.

    `work` is where the proof works. Leaves the disk in the binding's folder as the kill found it. True if the job reached the step and
    SIGKILL was what ended it.
    """
    identity = f"kill-{binding.folder.name}"
    folder = work / identity
    folder.mkdir(parents=True)
    binding.folder.mkdir(parents=True, exist_ok=True)
    recorded = replace(binding, base=f"sp-record://{identity}{binding.folder}")
    fault = arming(recording.steps, step, action=Action.KILL).configuration(identity, str(folder))
    task = make_task(identity, recorded, recording)
    # In this folder too: a JVM that is killed does not delete its temporary files.
    own = {**fault, **local_files(folder / "local")}
    task = task.under(read_state=False, settings=own)
    try:
        with (folder / "child.log").open("wb") as log:
            return _killed_at_marker(started(task, environment, log), folder / MARKER)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _killed_at_marker(process: "subprocess.Popen[bytes]", marker: Path) -> bool:
    """Waits for the marker, kills; returns when no process of the group holds its standard output any more."""
    give_up = monotonic_seconds() + _PATIENCE_SECONDS
    reached = False
    try:
        while not reached and monotonic_seconds() < give_up:
            try:
                process.communicate(timeout=_LOOK_SECONDS)
                break
            except subprocess.TimeoutExpired:
                reached = marker.exists()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        until_silent(process)
    return reached and process.returncode == -signal.SIGKILL
