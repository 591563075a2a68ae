"""`sp.prove` in a test or a notebook: the proof runs in a process of its own, which is set apart and stays warm for the next one."""

import atexit
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from streamproof.errors import ConfigurationError, StreamproofError
from streamproof.prove.process import apart

_END_SECONDS, _LOOK_SECONDS = 25.0, 0.2
_CANNOT_GO = "It is called in a process of its own, and gets there by way of pickle."


class _Server:
    """The process; `life` is a pipe that closes with ours, however ours ends, and that takes the number of a call that is to end.

    Each call has a number, and so have its answers. A call that is left without its answer ends the process: nothing else may take that
    answer for its own.
    """

    def __init__(self, *, network: bool) -> None:
        self._socket, its = socket.socketpair()
        ends, self._life = os.pipe()
        arguments = [str(its.fileno()), str(ends), "network" if network else ""]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamproof.prove.process.served_main", *arguments],
            stdin=subprocess.DEVNULL,
            pass_fds=(its.fileno(), ends),
            start_new_session=True,  # Ctrl-C is passed on below, once
        )
        its.close()
        os.close(ends)
        self._number, self._calling, self._caller, self._pending = 0, threading.Lock(), 0, bytearray()
        self._open = True
        with self._ended_without_answer():
            self.apart: apart.Apart = self._receive()

    @property
    def running(self) -> bool:
        return self._open and self._process.poll() is None

    def call(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        listener: Callable[[Any], None] | None,
        end: threading.Event | None,
    ) -> Any:
        """What a function gives there; it tells by its argument `listener` how far it is, and ends once its argument `end` is set."""
        if self._caller == threading.get_ident():
            raise StreamproofError(
                "A proof is asked for by the listener of another one, which waits for that listener.",
                remedy="Ask for it after the first one has returned.",
            )
        asked, around = _pickled(function, arguments), _around()
        with self._calling:
            self._number, self._caller = self._number + 1, threading.get_ident()
            try:
                with self._ended_without_answer(), self._passing_on(end):
                    kind, what = self._answer(around, asked, listener)
            finally:
                self._caller = 0
        if kind == "raised":
            raise what
        return what

    @contextmanager
    def _ended_without_answer(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, ConnectionError):
            self._close()
            raise StreamproofError(
                f"The process of the proof ended with {self._ended_with()}, and left no report.",
                required="It runs until its proof is done.",
                remedy="Look what it has written last, and whether something has killed it: the system does when memory is full.",
            ) from None
        except BaseException:
            self.end()
            raise

    @contextmanager
    def _passing_on(self, end: threading.Event | None) -> Iterator[None]:
        """Asks the process to end its call as soon as the event is set."""
        over, number = threading.Event(), self._number

        def pass_on(asked: threading.Event) -> None:
            while not over.is_set():
                if asked.wait(_LOOK_SECONDS):
                    self._ask_to_end(number)
                    return

        if end is not None:
            threading.Thread(target=pass_on, args=(end,), name="end-of-call", daemon=True).start()
        try:
            yield
        finally:
            over.set()

    def _ask_to_end(self, number: int) -> None:
        """Not by a signal: one that comes early ends the process, and one that is ignored is lost."""
        if self._open:
            with suppress(OSError):
                os.write(self._life, f"{number}\n".encode())

    def _answer(self, around: Mapping[str, Any], asked: bytes, listener: Callable[[Any], None] | None) -> tuple[str, Any]:
        apart.send(self._socket, (self._number, around, asked))
        answer: tuple[str, Any] | None = None
        interrupted = False
        while answer is None:
            try:
                number, kind, what = self._receive()
                if number != self._number:
                    continue
                if kind != "told":
                    answer = kind, what
                elif listener is not None:
                    listener(what)
            except KeyboardInterrupt:  # while it waits, or in the listener
                if interrupted:
                    raise
                interrupted = True
                self._ask_to_end(self._number)
        return answer

    def _receive(self) -> Any:
        """The next message; what has come of it stays where it is when Ctrl-C comes in between."""
        while len(self._pending) < apart.SIZE or len(self._pending) < (size := apart.size(self._pending)):
            chunk = self._socket.recv(1 << 20)
            if not chunk:
                raise EOFError("the process has ended")
            self._pending += chunk
        told = bytes(self._pending[apart.SIZE : size])
        del self._pending[:size]
        return pickle.loads(told)  # noqa: S301 -- it is a process of our own

    def _close(self) -> None:
        if self._open:
            self._open = False
            self._socket.close()
            os.close(self._life)

    def _ended_with(self) -> int:
        """Its exit code, once it has ended; it is killed where it does not."""
        try:
            return self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return self._process.wait(_END_SECONDS)

    def end(self) -> None:
        self._close()
        self._ended_with()


def _pickled(function: Callable[..., Any], arguments: Mapping[str, Any]) -> bytes:
    """A call as it is handed over; nothing is said before it is whole."""
    try:
        return pickle.dumps((function, arguments))
    except Exception as problem:
        raise StreamproofError(
            f"What is given to the proof cannot be handed to its process: {type(problem).__name__}: {problem}",
            required=_CANNOT_GO,
            remedy="Give texts, numbers, paths, or classes of a module that can be imported; no open file, lock or lambda.",
        ) from problem


def _around() -> dict[str, Any]:
    """The surroundings that the process takes up."""
    try:
        here = str(Path.cwd())
    except OSError as gone:
        raise ConfigurationError(
            f"The working directory of this process is gone: {gone.strerror}.",
            remedy="Change to one that is there, and prove again.",
        ) from None
    return {"cwd": here, "environment": dict(os.environ), "path": list(map(str, sys.path))}


_making = threading.Lock()
_servers: dict[bool, _Server] = {}


def call(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    listener: Callable[[Any], None] | None,
    end: threading.Event | None = None,
    *,
    network: bool,
) -> Any:
    """Calls a function of ours in a process that is set apart, from its network too where that is asked."""
    with _making:
        server = _servers.get(network)
        if server is None or not server.running:
            if not _servers:
                atexit.register(_end_all)
            server = _servers[network] = _Server(network=network)
    return server.call(function, arguments, listener, end)


def _end_all() -> None:
    while _servers:
        _servers.popitem()[1].end()
