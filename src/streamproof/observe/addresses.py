"""Where something of a run can be read by HTTP: an address as people type it, and a socket that listens there."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from streamproof.errors import ConfigurationError

LOOPBACK = "127.0.0.1"


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


def means_this_machine(headers: Mapping[str, str]) -> bool:
    """Whether a request with these headers was sent to this machine by a name of its own.

    A page of another site can give its own name our address (DNS rebinding), and would read what we answer. A browser always says which name it was.
    """
    host = headers.get("host")
    if host is None:
        return True
    name, _, port = host.rpartition(":")
    return is_loopback((name if port.isdigit() else host).strip("[]").lower())


def listening(host: str, port: int, wanted: Wanted) -> socket.socket:
    """A socket that listens there.

    Raises
    ------
    ConfigurationError
        If the port is taken, or the address is none of this machine.
    """
    try:
        (family, _, _, _, place), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        return socket.create_server(place, family=family)
    except OSError as problem:
        raise taken(host, port, wanted, problem) from problem


def taken(host: str, port: int, wanted: Wanted, problem: OSError) -> ConfigurationError:
    """That nothing can listen there, and why."""
    return ConfigurationError(
        f"The {wanted.what} cannot be shown on {host}:{port}: {(problem.strerror or str(problem)).lower()}.",
        required="A port that no other program listens on, on an address of this machine.",
        remedy=f"Give another one: {wanted.by(wanted.port + 1)}. Port 0 takes one that is free, and the run says which.",
    )


def url(bound: tuple[str, int], path: str) -> str:
    """How an address is typed into a browser."""
    host, port = bound
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
