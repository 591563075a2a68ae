"""A service's process: started, watched until it answers, paused, killed; its output kept."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from streamproof.core.clock import monotonic_seconds
from streamproof.core.ids import new_id
from streamproof.errors import LabError
from streamproof.runtime.spark.environment import find_java

_POLL_SECONDS = 0.05
_TAIL = 12
_GUARDIAN = Path(__file__).with_name("guardian.py")
"""A program of its own, which this one never imports."""
_PORTS = range(15000, 32000)
_STANDING = frozenset("TtZX")
"""Letters of ps for a thread that does nothing: stopped, or ended."""


class Process:
    """One running process of a service; it dies with this one, however this one ends.

    Parameters
    ----------
    name
        What it is called in messages, "kafka broker 2".
    log
        Where its output goes.
    user
        Whom it runs as, where this process may choose.
    temporary
        A folder that goes when this process dies while the service runs.
    environment
        Variables that it has beside those of this process.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[object],
        log: Path,
        *,
        cwd: Path | None = None,
        user: str | None = None,
        temporary: Path | None = None,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.name, self.log = name, log.absolute()  # the service may run elsewhere
        self.log.parent.mkdir(parents=True, exist_ok=True)
        remove = [str(temporary)] if temporary else []
        told = {"log": str(self.log), "command": [str(part) for part in command], "user": user, "remove": remove}
        self._guardian = subprocess.Popen(
            [sys.executable, "-S", "-E", str(_GUARDIAN), json.dumps(told)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **environment},
            text=True,
            start_new_session=True,
        )
        assert self._guardian.stdout is not None
        started = self._guardian.stdout.readline().strip()
        if not started:
            raise LabError(f"{name} could not be started: {command[0]} is not there or cannot be run.", required=self.tail())
        self.pid = int(started)

    @property
    def running(self) -> bool:
        return self._guardian.poll() is None

    @property
    def ended(self) -> str:
        """That it has ended, with the end of its log; empty where it runs."""
        return "" if self.running else f"{self.name} has ended: {self.tail().strip()}"

    def ready(self, answers: Callable[[], bool], seconds: float = 120) -> None:
        """Waits until the service answers.

        Raises
        ------
        LabError
            If it ends or does not answer in time; with the end of its log.
        """
        until(answers, f"{self.name} to answer", seconds, gone=lambda: not self.running, said=self.tail)

    def pause(self) -> None:
        """Stops it in its tracks and waits until every thread of it stands: connections stay open, nothing answers."""
        os.killpg(self.pid, signal.SIGSTOP)
        until(lambda: _states(self.pid) <= _STANDING, f"{self.name} to stop", 10)

    def resume(self) -> None:
        os.killpg(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill -9, and waits until it is gone."""
        self._end(signal.SIGKILL, 10)

    def stop(self, seconds: float = 10) -> None:
        """Asks it to end, and kills it where it does not."""
        self._end(signal.SIGTERM, seconds)

    def _end(self, how: signal.Signals, seconds: float) -> None:
        if self.running:
            try:
                os.killpg(self.pid, how)
                if how is not signal.SIGKILL:
                    os.killpg(self.pid, signal.SIGCONT)
                self._guardian.wait(seconds)
            except ProcessLookupError:
                self._guardian.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(self.pid, signal.SIGKILL)
                self._guardian.wait(seconds)
        for pipe in (self._guardian.stdin, self._guardian.stdout):
            if pipe is not None:
                pipe.close()

    def tail(self) -> str:
        """The last lines of its output."""
        if not self.log.exists():
            return ""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join([f"{self.log} ends with:", *lines[-_TAIL:]]) if lines else ""


def until(
    holds: Callable[[], bool], what: str, seconds: float, *, gone: Callable[[], bool] | None = None, said: Callable[[], str] = str
) -> None:
    """Waits until something holds, asking again and again; LabError when time is up, or when it cannot hold any more."""
    end = monotonic_seconds() + seconds
    while True:
        held = holds()
        if gone is not None and gone():
            raise LabError(f"Waited for {what}, and it ended.", required=said())
        if held:
            return
        if monotonic_seconds() > end:
            raise LabError(f"Waited {seconds:.0f} seconds for {what}, in vain.", required=said())
        time.sleep(_POLL_SECONDS)


def done_within(seconds: float, what: str, command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs a program that ends by itself.

    Raises
    ------
    LabError
        If it does not.
    """
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds, **options)
    except subprocess.TimeoutExpired as hung:
        said = (hung.stderr or hung.stdout or b"")[-1000:]
        raise LabError(
            f"{what} has not ended within {seconds:.0f} seconds, and was killed.",
            required=said.decode(errors="replace") if isinstance(said, bytes) else said,
            remedy="Try again when the machine has less to do.",
        ) from None


def _states(group: int) -> set[str]:
    """What the threads of a process group are doing, by the letters of ps; macOS tells it of processes alone."""
    if not Path("/proc/self/stat").exists():
        listed = subprocess.run(["ps", "-axo", "pgid=,state="], capture_output=True, text=True, check=True).stdout
        return {line.split()[1][0] for line in listed.splitlines() if int(line.split()[0]) == group}
    found = set()
    for stat in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            state, _, its_group = stat.read_text(errors="replace").rpartition(") ")[2].split()[:3]
            if int(its_group) == group:
                found.add(state)
    return found


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on, all different.

    They lie below the ports that Linux and macOS give to whoever names none. A service takes its port seconds after it was chosen, and
    again when it is restarted: until then a client's connection, or a listener of Spark's, would get it by chance. Where to look first is
    drawn, for others may be choosing at the same time.
    """
    found = list(islice(_unused(int(new_id(), 16) % len(_PORTS)), count))
    if len(found) < count:
        raise LabError(f"There are no {count} free ports of {len(_PORTS):,}.")
    return found


def _unused(first: int) -> Iterator[int]:
    for port in [*_PORTS[first:], *_PORTS[:first]]:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what is left of closed connections is in nobody's way
            if _binds(probe, port):
                yield port


def _binds(probe: socket.socket, port: int) -> bool:
    try:
        probe.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True


def java() -> tuple[str, str]:
    """The Java that Spark takes too, with Python's folder for temporary files; EnvironmentProblem where there is none."""
    home = find_java().home
    return "java" if home is None else str(home / "bin" / "java"), f"-Djava.io.tmpdir={tempfile.gettempdir()}"
