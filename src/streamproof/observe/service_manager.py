"""Tells the service manager that started this process how the run is: sd_notify(3) of systemd, a datagram to the socket that it names.

`READY=1` is sent once every query runs, `WATCHDOG=1` as long as the run makes progress, by the same checks as `/ready` and `/health`. A run that hangs
sends none, and systemd ends it (`WatchdogSec`).
"""

import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress

from streamproof.observe.health import Checked

SOCKET = "NOTIFY_SOCKET"
WATCHDOG = "WATCHDOG_USEC"
_EVERY_SECONDS = 5.0
_MORE_TIME = "EXTEND_TIMEOUT_USEC=60000000"
"""A start may take as long as it needs, as long as it goes on."""


def is_wanted() -> bool:
    """Whether a service manager waits to be told."""
    return bool(os.environ.get(SOCKET))


class ServiceManager:
    """Tells the service manager from a thread of its own, for as long as a run lasts; nothing where there is none.

    Parameters
    ----------
    checked
        How the run is.
    environment
        Where the service manager says that it listens.
    """

    def __init__(self, checked: Checked, environment: Mapping[str, str] | None = None) -> None:
        found = os.environ if environment is None else environment
        self._checked, self._address = checked, found.get(SOCKET, "")
        watchdog = found.get(WATCHDOG, "")
        self._every = min(_EVERY_SECONDS, int(watchdog) / 3_000_000) if watchdog.isdigit() and int(watchdog) else _EVERY_SECONDS
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="streamproof-service-manager", daemon=True)
        self._status = ""

    def __enter__(self) -> "ServiceManager":
        if self._address:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._address:
            self._over.set()
            self._thread.join()
            _send(self._address, "STOPPING=1")

    def _tell(self) -> None:
        ready = False
        while True:
            health, readiness = self._checked.health(), self._checked.ready()
            lines = ["WATCHDOG=1"] if health.good else []
            is_ready = ready or readiness.good
            if is_ready and not ready:
                lines.append("READY=1")
            elif not ready and health.good:
                lines.append(_MORE_TIME)
            status = " ".join((health if not health.good else readiness).reason.split()) or readiness.status
            lines += [f"STATUS={status}"] if status != self._status else []
            if not lines or _send(self._address, "\n".join(lines)):  # else it has heard nothing of it, and is told again
                ready, self._status = is_ready, status
            if self._over.wait(self._every if ready else min(self._every, 1.0)):
                return


def _send(address: str, text: str) -> bool:
    """One datagram, and whether it was taken: a service manager that does not listen, or is full, stops no run.

    A socket whose name begins with @ is an abstract one.
    """
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sending:
        sending.setblocking(False)
        sending.connect(f"\0{address[1:]}" if address.startswith("@") else address)
        sending.send(text.encode())
        return True
    return False
