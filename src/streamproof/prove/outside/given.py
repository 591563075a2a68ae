"""Services that run already, named by their URLs, in the place of those that a proof would start."""

import socket
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from streamproof.errors import ConfigurationError, LabError

_PORTS: Mapping[str, int] = {"kafka": 9092, "postgres": 5432, "redis": 6379, "registry": 80}
_SCHEMES: Mapping[str, Sequence[str]] = {
    "kafka": ("kafka",),
    "postgres": ("postgresql", "postgres"),
    "redis": ("redis",),
    "registry": ("http",),
}
_EXAMPLES: Mapping[str, str] = {
    "kafka": "host:9092",
    "postgres": "postgresql://user@host:5432/database",
    "redis": "redis://host:6379",
    "registry": "http://host:8081",
}
_ANSWER_SECONDS = 5.0


def required(given: Mapping[str, str], needed: Collection[str], stores: Collection[str]) -> None:
    """That each is one that the job needs, that a proof can keep apart what it has there, and that it answers.

    Raises
    ------
    ConfigurationError, LabError
        Where one cannot be given, or does not answer.
    """
    for name, url in given.items():
        _usable(name, url, needed, stores)
        for host, port in _servers(name, url):
            try:
                socket.create_connection((host, port), timeout=_ANSWER_SECONDS).close()
            except OSError as problem:
                raise LabError(f"{name} does not answer at {host}:{port}: {problem.strerror or problem}.") from None


def _usable(name: str, url: str, needed: Collection[str], stores: Collection[str]) -> None:
    if name == "api":
        raise ConfigurationError(
            "An API cannot be given to a proof.",
            required="What a job made it do is read from the lab's stand-in.",
            remedy="Leave --service api out: the stand-in is started for the proof.",
        )
    if name not in _SCHEMES:
        raise ConfigurationError(f'"{name}" is no service that can be given.', required=f"Those are {', '.join(_SCHEMES)}.")
    if not _servers(name, url):
        raise ConfigurationError(
            f"The address that is given for {name} cannot be read.", required=f'It is written "--service {name}={_EXAMPLES[name]}".'
        )
    if name not in needed:
        raise ConfigurationError(
            f"The job is not bound to {name}.",
            required=f"It is bound to {', '.join(needed) or 'no service'}.",
            remedy="--profile NAME chooses another binding.",
        )
    if name == "redis" and name in stores:
        raise ConfigurationError(
            "A Redis that runs already cannot hold a job's own stores in a proof.",
            required="Each scenario has a numbered database, which is emptied.",
            remedy="Leave --service redis out: one is started for the proof.",
        )


def hosts(given: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts of them all."""
    return tuple(dict.fromkeys(host for name, url in given.items() for host, _ in _servers(name, url)))


def server(name: str, url: str) -> str:
    """The host and port of a service that has one."""
    host, port = _servers(name, url)[0]
    return f"{host}:{port}"


def shown(url: str) -> str:
    """The URL without its password."""
    head, at, rest = url.rpartition("@")
    scheme, slashes, user = head.rpartition("//")
    return f"{scheme}{slashes}{user.partition(':')[0]}{at}{rest}"


def _servers(name: str, url: str) -> list[tuple[str, int]]:
    """The servers of a URL, none where it is not one."""
    found = []
    with suppress(ValueError):
        for each in url.split(",") if name == "kafka" else [url]:
            parts = urlsplit(f"kafka://{each}" if name == "kafka" else each)
            if parts.scheme not in _SCHEMES[name] or not parts.hostname:
                return []
            found.append((parts.hostname, parts.port or _PORTS[name]))
    return found
