"""`sp.prove` in a test or a notebook: the proof runs in a process of its own, which is set apart and stays warm for the next one."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from streamproof.errors import StreamproofError
from streamproof.prove.process import apart

_END_SECONDS, _LOOK_SECONDS = 20.0, 0.2


class _Server:
    """The process; `life` is a pipe that closes with ours, however ours ends."""

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
        self.apart: apart.Apart = apart.receive(self._socket)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def call(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        listener: Callable[[Any], None] | None,
        end: threading.Event | None,
    ) -> Any:
        """What a function gives there; it tells by its argument `listener` how far it is, and ends once its argument `end` is set."""
        with self._passing_on(end):
            return self._called(function, arguments, listener)

    @contextmanager
    def _passing_on(self, end: threading.Event | None) -> Iterator[None]:
        """Asks the process to end its call as soon as the event is set."""
        over = threading.Event()

        def pass_on(asked: threading.Event) -> None:
            while not over.is_set():
                if asked.wait(_LOOK_SECONDS):
                    self._process.send_signal(signal.SIGINT)
                    return

        if end is not None:
            threading.Thread(target=pass_on, args=(end,), name="end-of-call", daemon=True).start()
        try:
            yield
        finally:
            over.set()

    def _called(self, function: Callable[..., Any], arguments: Mapping[str, Any], listener: Callable[[Any], None] | None) -> Any:
        around = {"cwd": str(Path.cwd()), "environment": dict(os.environ), "path": list(sys.path)}
        apart.send(self._socket, around)
        apart.send(self._socket, (function, arguments))
        interrupted = False
        while True:
            try:
                kind, what = apart.receive(self._socket)
            except KeyboardInterrupt:
                if interrupted:
                    self.end()
                    raise
                interrupted = True
                self._process.send_signal(signal.SIGINT)
                continue
            except (EOFError, ConnectionError):
                raise StreamproofError(
                    f"The process of the proof ended with {self._process.wait()}, and left no report.",
                    required="It runs until its proof is done.",
                    remedy="Look whether something has killed it: the system does when memory is full.",
                ) from None
            if kind == "told" and listener is not None:
                listener(what)
            elif kind == "gave":
                return what
            elif kind == "raised":
                raise what

    def end(self) -> None:
        self._socket.close()
        with suppress(OSError):
            os.close(self._life)
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


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
    server = _servers.get(network)
    if server is None or not server.running:
        if not _servers:
            atexit.register(_end_all)
        server = _servers[network] = _Server(network=network)
    return server.call(function, arguments, listener, end)


def _end_all() -> None:
    while _servers:
        _servers.popitem()[1].end()
