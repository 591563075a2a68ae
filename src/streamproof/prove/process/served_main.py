"""The process that `served` calls functions in: `python -m ... SOCKET LIFE NETWORK`. It ends when the process that has started it does."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamproof.prove.process import apart


def serve(asking: socket.socket, life: int) -> None:
    """Until the other process ends."""
    apart.send(asking, apart.state())
    calling = threading.Event()
    threading.Thread(target=_end_with, args=(life, calling), name="end-with-parent", daemon=True).start()
    while True:
        try:
            _take_up(apart.receive(asking))  # what follows is found on its path
            function, arguments = apart.receive(asking)
        except (EOFError, KeyboardInterrupt, ConnectionError):
            return
        calling.set()
        try:
            with _asked_to_end() as end:
                answer = "gave", function(**arguments, listener=lambda event: apart.send(asking, ("told", event)), end=end)
        except BaseException as problem:  # noqa: BLE001 -- Ctrl-C too: it is raised over there
            answer = "raised", apart.portable(problem)
        calling.clear()
        try:
            apart.send(asking, answer)
        except (OSError, KeyboardInterrupt):
            return


@contextmanager
def _asked_to_end() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets while a call goes on; the second one is a KeyboardInterrupt."""
    end = threading.Event()

    def heard(*_: object) -> None:
        if end.is_set():
            raise KeyboardInterrupt
        end.set()

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield end
    finally:
        signal.signal(signal.SIGINT, before)


def _take_up(around: dict[str, Any]) -> None:
    """The surroundings of the caller; temporary files stay in the folder of this process."""
    os.chdir(around["cwd"])
    own = os.environ.get("TMPDIR")
    os.environ.clear()
    os.environ.update(around["environment"])
    if own is not None:
        os.environ["TMPDIR"] = own
    sys.path[:] = around["path"]


def _end_with(life: int, calling: threading.Event) -> None:
    """Ends the call that goes on once the other process has ended; between calls `serve` hears of it."""
    while os.read(life, 1):
        pass
    if calling.is_set():
        os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    apart.enter(network=bool(sys.argv[3]))
    serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
