"""A proof touches nothing real: Python sockets refuse every host that was not allowed by name."""

import ipaddress
import socket
from collections.abc import Iterable
from typing import Any

from streamproof.errors import StreamproofError

_LOCAL = ("localhost", "")
ALLOW_VARIABLE = "STREAMPROOF_ALLOW_HOSTS"


class HostRefused(StreamproofError, OSError):
    """The job tried to reach a host outside the proof."""


def install(allowed: Iterable[str] = ()) -> None:
    """Lets sockets of this process connect to this machine and to the allowed hosts only.

    Not seen: connections that JVM or C libraries open by themselves.
    """
    names = frozenset(allowed)
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def refuse(address: Any) -> None:
        if isinstance(address, tuple) and address and not _is_local(str(address[0])) and address[0] not in names:
            raise HostRefused(
                f"The job tried to connect to {address[0]} during a proof.",
                required="A proof touches nothing real.",
                remedy=f"Bind the job to a service the proof starts, or allow the host: streamproof prove ... --allow-host {address[0]}",
            )

    def guarded_connect(self: socket.socket, address: Any) -> None:
        refuse(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        refuse(address)
        return connect_ex(self, address)

    socket.socket.connect = guarded_connect  # type: ignore[method-assign, assignment]
    socket.socket.connect_ex = guarded_connect_ex  # type: ignore[method-assign, assignment]


def _is_local(host: str) -> bool:
    if host in _LOCAL:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
