"""A proof touches nothing real: Python sockets refuse every host that was not allowed by name."""

import ipaddress
import os
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from streamproof.errors import StreamproofError

if TYPE_CHECKING:
    from pyspark import SparkContext

_LOCAL = ("localhost", "")
_ALLOWED = "STREAMPROOF_ALLOW_HOSTS"


class HostRefused(StreamproofError, OSError):
    """The job tried to reach a host outside the proof."""

    code = "host-refused"


def install(allowed: Iterable[str] = ()) -> None:
    """Lets sockets of this process connect to this machine and to the allowed hosts only.

    Not seen: connections that JVM or C libraries open by themselves.
    """
    names = _with_addresses(allowed)
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


def _with_addresses(allowed: Iterable[str]) -> frozenset[str]:
    """The hosts and their addresses: clients that resolve a name connect to what it stands for."""
    names = set(allowed)
    for name in tuple(names):
        with suppress(OSError, UnicodeError):
            names |= {str(found[4][0]) for found in socket.getaddrinfo(name, None)}
    return frozenset(names)


def allow_in_workers(context: "SparkContext", allowed: Iterable[str]) -> None:
    """Lets the Python workers that functions of this context run in reach the allowed hosts too.

    Spark hands the environment over with each function, and starts a daemon for each environment.
    """
    context.environment[_ALLOWED] = ",".join(allowed)


def install_in_worker() -> None:
    """Guards a Python worker, with the hosts that `allow_in_workers` named."""
    install(filter(None, os.environ.get(_ALLOWED, "").split(",")))


def _is_local(host: str) -> bool:
    if host in _LOCAL:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
