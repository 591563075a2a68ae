"""The process that `served` calls functions in: `python -m ... SOCKET LIFE NETWORK`. It ends when the process that has started it does."""

import os
import pickle
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamproof.errors import ConfigurationError, StreamproofError
from streamproof.prove.process import apart

_LAST_SECONDS = 20.0
"""How long the process goes on after the one that has started it: for the report, and for what the proof has to remove."""


class Ends:
    """Which calls are to end, as the other process says by the pipe `life`: a number, or its own end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked, self._number, self._over = 0, 0, False
        self._end = threading.Event()

    def of_call(self, number: int) -> threading.Event:
        """The event of a call; set from the beginning where its end was asked for before it began."""
        with self._lock:
            self._number, self._end = number, threading.Event()
            self._tell()
            return self._end

    def ask(self, number: int) -> None:
        with self._lock:
            self._asked = max(self._asked, number)
            self._tell()

    def all(self) -> None:
        with self._lock:
            self._over = True
            self._tell()

    def _tell(self) -> None:
        if self._over or self._asked == self._number:
            self._end.set()


def serve(asking: socket.socket, life: int) -> None:
    """Until the other process ends."""
    apart.send(asking, apart.state())
    ends = Ends()
    threading.Thread(target=_end_with, args=(life, ends), name="end-with-parent", daemon=True).start()
    while apart.can_ask_outside():
        try:
            number, around, asked = apart.receive(asking)
        except (EOFError, KeyboardInterrupt, OSError):
            return
        answer = _answered(asking, number, around, asked, ends.of_call(number))
        try:
            apart.send_pickled(asking, answer)
        except (OSError, KeyboardInterrupt):
            return


def _answered(asking: socket.socket, number: int, around: dict[str, Any], asked: bytes, end: threading.Event) -> bytes:
    """What comes of a call, pickled: also of one that cannot be understood, or whose answer cannot be handed over."""
    try:
        with _set_by_ctrl_c(end):
            _take_up(around)  # what follows is found on its path
            function, arguments = _understood(asked)
            gave = function(**arguments, listener=lambda event: apart.send(asking, (number, "told", event)), end=end)
            return pickle.dumps((number, "gave", gave))
    except BaseException as problem:  # noqa: BLE001 -- Ctrl-C too: it is raised over there
        return pickle.dumps((number, "raised", apart.portable(problem)))


@contextmanager
def _set_by_ctrl_c(end: threading.Event) -> Iterator[None]:
    """An event that Ctrl-C sets while a call goes on; the second one is a KeyboardInterrupt."""

    def heard(*_: object) -> None:
        if end.is_set():
            raise KeyboardInterrupt
        end.set()

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _understood(asked: bytes) -> Any:
    """A call.

    Raises
    ------
    StreamproofError
        If it names what is not in this process.
    """
    try:
        return pickle.loads(asked)  # noqa: S301 -- it is a process of our own
    except Exception as problem:  # noqa: BLE001 -- whatever its class does
        raise StreamproofError(
            f"What is given to the proof cannot be read in its process: {type(problem).__name__}: {problem}",
            required="A class of a notebook or of a script that runs (`__main__`) is in that process alone.",
            remedy="Move it to a module of its own and import it, or give texts, numbers and paths.",
        ) from None


def _take_up(around: dict[str, Any]) -> None:
    """The surroundings of the caller; temporary files stay in the folder of this process."""
    try:
        os.chdir(around["cwd"])
    except OSError as problem:
        raise ConfigurationError(
            f"The process of the proof cannot enter the working directory {around['cwd']}: {problem.strerror}.",
            remedy="Change to a folder that is there, and prove again.",
        ) from None
    own = os.environ.get("TMPDIR")
    os.environ.clear()
    os.environ.update(around["environment"])
    if own is not None:
        os.environ["TMPDIR"] = own
    sys.path[:] = around["path"]


def _end_with(life: int, ends: Ends) -> None:
    """Ends the calls that the other process names; all of them once it has ended, and a moment later this process and its group."""
    pending = b""
    while chunk := os.read(life, 4096):
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            ends.ask(int(line))
    ends.all()
    threading.Event().wait(_LAST_SECONDS)  # it is a thread that goes with the process, where that ends by itself
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    apart.enter(network=bool(sys.argv[3]))
    serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
