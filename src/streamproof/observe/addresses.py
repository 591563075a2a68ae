"""Where something of a run can be read by HTTP: an address as people type it, and a socket that listens there."""

import errno
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address

from streamproof.core.clock import monotonic_seconds
from streamproof.errors import ConfigurationError, PortTaken

LOOPBACK = "127.0.0.1"
METRICS_PORT, LIVE_PORT = 9464, 9465
"""Those of the examples; neither is proposed in place of the other."""
_OURS = (METRICS_PORT, LIVE_PORT)
_LOOK_EVERY_SECONDS = 0.5


@dataclass(frozen=True)
class Patience:
    """For how long a port that is taken is waited for.

    Parameters
    ----------
    wait
        Waits so many seconds.
    clock
        Seconds that never go back.
    """

    seconds: float = 0.0
    wait: Callable[[float], object] = field(default_factory=lambda: threading.Event().wait)
    clock: Callable[[], float] = monotonic_seconds


NO_PATIENCE = Patience()
FOR_A_DRIVER_THAT_ENDS = Patience(30.0)
"""A run that was started again at once may find the port of the one before: its driver, or a process of it, is still ending."""


@dataclass(frozen=True)
class Wanted:
    """What is shown at an address, and how it is asked for; for errors.

    Parameters
    ----------
    what
        In words, such as "metrics".
    option
        How it is asked for, with `{}` where the address stands, such as "--metrics {}".
    port
        A port for an example.
    others
        What happens where other machines reach it.
    """

    what: str
    option: str
    port: int
    others: str

    def by(self, address: object) -> str:
        """What is typed to have it at this address."""
        return self.option.format(address)


def parsed(address: str, wanted: Wanted) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, or of a port alone: then of this machine only."""
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit()) or int(port) > 65_535:
        raise ConfigurationError(
            f"{address} is no address to show {wanted.what} on.",
            required="A port from 0 to 65535, or HOST:PORT.",
            remedy=f"Such as {wanted.by(wanted.port)}; {wanted.by(f'0.0.0.0:{wanted.port}')} {wanted.others}.",
        )
    return (host.strip("[]") or LOOPBACK), int(port)


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def means_this_machine(host: str | None) -> bool:
    """Whether a request with this header Host was sent to this machine by a name of its own.

    A page of another site can give its own name our address (DNS rebinding), and would read what we answer. A browser always says which name it was.
    """
    if host is None:
        return True
    name, _, port = host.rpartition(":")
    return is_loopback((name if port.isdigit() else host).strip("[]").lower())


def listening(host: str, port: int, wanted: Wanted, patience: Patience = NO_PATIENCE) -> socket.socket:
    """A socket that listens there.

    Raises
    ------
    PortTaken
        If another program listens there, and still does once the patience is at its end.
    ConfigurationError
        If the address is none of this machine.
    """
    until = patience.clock() + patience.seconds
    while True:
        try:
            (family, _, _, _, place), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            return socket.create_server(place, family=family)
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE:
                raise _no_address(host, port, wanted, problem) from problem
            if patience.clock() >= until:
                raise _taken(host, port, wanted, problem) from problem
            patience.wait(_LOOK_EVERY_SECONDS)


def _taken(host: str, port: int, wanted: Wanted, problem: OSError) -> PortTaken:
    free = next((other for other in range(port + 1, 65_536) if other not in _OURS), 0)
    return PortTaken(
        _not_shown(host, port, wanted, problem),
        required="A port that no other program listens on: another run of this job, perhaps, or what is left of one.",
        remedy=f"End that program, or give another port: {wanted.by(typed(host, free))}. Port 0 takes one that is free.",
    )


def _no_address(host: str, port: int, wanted: Wanted, problem: OSError) -> ConfigurationError:
    return ConfigurationError(
        _not_shown(host, port, wanted, problem),
        required="An address of this machine, and a port that this user may listen on.",
        remedy=f"Give another one: {wanted.by(wanted.port)}. Port 0 takes one that is free.",
    )


def _not_shown(host: str, port: int, wanted: Wanted, problem: OSError) -> str:
    number = problem.errno or 0
    # Python adds to what the system says where that was, and we have said that.
    why = os.strerror(number) if number > 0 else problem.strerror or str(problem)
    return f"The {wanted.what} cannot be shown on {_bracketed(host)}:{port}: {why.lower()}."


def typed(host: str, port: int) -> str:
    """How an address is typed: a port alone where it is the usual one of this machine."""
    return str(port) if host == LOOPBACK else f"{_bracketed(host)}:{port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def url(bound: tuple[str, int], path: str) -> str:
    """How an address is typed into a browser."""
    host, port = bound
    return f"http://{_bracketed(host)}:{port}{path}"
