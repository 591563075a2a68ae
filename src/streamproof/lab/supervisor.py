"""Services that stay when the command that started them ends: one process that holds them, and a file that says where they are."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from streamproof.errors import LabError, StreamproofError
from streamproof.lab.process import until
from streamproof.lab.services import service

STATE, _LOCK = "lab.json", "lab.lock"
_UP_SECONDS, _DOWN_SECONDS = 180, 60


@dataclass(frozen=True)
class LabState:
    """What a lab has written down: the process that holds it, its services and where they are, and why it did not come up."""

    pid: int
    urls: Mapping[str, str] = field(default_factory=dict)
    complete: bool = False
    problem: str = ""


def state_of(folder: Path) -> LabState | None:
    """The lab of a folder, None where there is none."""
    try:
        return LabState(**json.loads((folder / STATE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def running(folder: Path) -> bool:
    """Whether a lab runs in a folder, or is being started: its process holds a lock as long as it lives, which its number would outlive."""
    lock = _locked(folder, fcntl.LOCK_SH)
    if lock is not None:
        lock.close()
    return lock is None


def _locked(folder: Path, how: int) -> TextIO | None:
    """The lock of a folder, ours until it is closed; None where another process has it."""
    if not folder.is_dir():
        folder.mkdir(parents=True)
    lock = (folder / _LOCK).open("a")
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def up(folder: Path, names: Sequence[str], brokers: int) -> LabState:
    """Starts services that stay until `down`; LabError where one does not come up, or a lab runs in the folder."""
    lock = _locked(folder, fcntl.LOCK_EX)
    if lock is None:
        found = state_of(folder)
        raise LabError(
            f"A lab is running in {folder}: {', '.join(found.urls if found is not None else ()) or 'it is being started'}.",
            remedy="Take it down first: streamproof lab down",
        )
    (folder / STATE).unlink(missing_ok=True)
    with lock, (folder / "supervisor.log").open("ab") as log:
        holder = subprocess.Popen(
            [sys.executable, "-m", "streamproof.lab.supervisor", str(folder), str(brokers), *names],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=[lock.fileno()],  # the lock is the holder's from now on
        )

    def decided() -> bool:
        now = state_of(folder)
        return now is not None and (now.complete or bool(now.problem))

    try:
        until(decided, "the lab to come up", _UP_SECONDS, gone=lambda: holder.poll() is not None and not decided())
    except BaseException:  # Ctrl-C too: nobody would know of what comes up afterwards
        holder.terminate()
        raise
    state = state_of(folder)
    assert state is not None, "a lab that has decided has written it down"
    if state.problem:
        holder.wait(_DOWN_SECONDS)
        raise LabError(state.problem)
    return state


def down(folder: Path) -> bool:
    """Ends the lab of a folder and everything it started; False where none runs."""
    state, runs = state_of(folder), folder.is_dir() and running(folder)
    (folder / STATE).unlink(missing_ok=True)
    if state is None or not runs:
        return False
    os.kill(state.pid, signal.SIGTERM)
    until(lambda: not running(folder), "the lab to end", _DOWN_SECONDS)
    return True


def _hold(folder: Path, brokers: int, names: Sequence[str]) -> int:
    """What the holding process does: starts, writes down, waits for its end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    urls: dict[str, str] = {}
    with ExitStack() as running:
        try:
            _write(folder, LabState(os.getpid()))
            for name in names:
                urls[name] = running.enter_context(service(name, folder, brokers=brokers)).url
                _write(folder, LabState(os.getpid(), urls, complete=len(urls) == len(names)))
        except StreamproofError as problem:
            _write(folder, LabState(os.getpid(), urls, problem=str(problem)))
            return 1
        while True:
            signal.pause()


def _write(folder: Path, state: LabState) -> None:
    partial = folder / f".{STATE}"
    partial.write_text(json.dumps(asdict(state)))
    partial.replace(folder / STATE)


if __name__ == "__main__":
    sys.exit(_hold(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
