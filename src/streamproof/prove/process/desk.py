"""The desk of the proving process. A process that takes a step reports it here, and waits until the fault is done."""

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from streamproof.core.ids import new_id

_PATIENCE_SECONDS = 600.0
_DONE = b"."


@dataclass
class Call:
    """One armed fault: what is done when its step reports, once, however often the step is taken.

    Parameters
    ----------
    port, ticket
        Where to report, and with which word: others on this machine know it not.
    strike
        What is done; it is given the JVM whose task takes the step, 0 where no task does.
    """

    port: int
    ticket: str
    strike: Callable[[int], None]
    done: bool = False
    problem: str = ""
    _taken: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def fired(self) -> bool:
        """Whether the fault was done, to its end and as it should."""
        return self.done and not self.problem

    @property
    def told(self) -> str:
        """What the step sends: the port, a space, and the line."""
        return f"{self.port} {json.dumps({'ticket': self.ticket})}"

    def over(self) -> None:
        """Waits for a fault that is being done."""
        with self._lock:
            self._taken = True  # a report that comes now comes too late

    def answer(self, process: int) -> None:
        """Does the fault the first time it is asked. Others wait until it is done."""
        with self._lock:
            if self._taken:
                return
            self._taken = True
            try:
                self.strike(process)
                self.done = True
            except Exception as problem:  # noqa: BLE001 -- the step must be answered; a fault that failed has not fired
                self.problem = f"{type(problem).__name__}: {problem}"


class Desk:
    """Takes the reports, until it is closed."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        calls = self._calls

        class Report(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                said: dict[str, Any] = json.loads(self.rfile.readline() or b"{}")
                call = calls.get(str(said.get("ticket")))
                if call is not None:
                    call.answer(int(said.get("process", 0)))
                    self.wfile.write(_DONE)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False

        self._server = Server(("127.0.0.1", 0), Report)
        threading.Thread(target=self._server.serve_forever, name="fault-desk", daemon=True).start()

    @contextmanager
    def expecting(self, strike: Callable[[int], None]) -> Iterator[Call]:
        """A call that is answered as long as the context lasts."""
        call = Call(self._server.server_address[1], new_id(), strike)
        self._calls[call.ticket] = call
        try:
            yield call
        finally:
            call.over()
            del self._calls[call.ticket]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def report(told: str, process: int = 0) -> None:
    """Reports a step, from the process that takes it, and waits for the answer; `process` is the JVM that the task belongs to."""
    port, _, line = told.partition(" ")
    said = {**json.loads(line), "process": process}
    with socket.create_connection(("127.0.0.1", int(port)), timeout=_PATIENCE_SECONDS) as desk:
        desk.sendall(json.dumps(said).encode() + b"\n")
        desk.recv(1)
