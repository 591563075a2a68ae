"""Apicurio Registry, which speaks the API of Confluent's schema registry."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from streamproof.lab.answering import by_http
from streamproof.lab.process import Process, java
from streamproof.lab.service import SingleProcess, empty
from streamproof.runtime.spark.artifacts import Progress, fetched

_AT_ONCE = "WRITE_DELAY=0"
"""H2 writes half a second later what it has committed, unless it is told not to."""


@dataclass
class Registry(SingleProcess):
    """A registry of its own, empty at its start; its schemas survive `kill` and `restart`."""

    progress: Progress | None = None

    def start(self) -> Self:
        empty(self._data)
        return super().start()

    @property
    def _data(self) -> Path:
        return self.folder / "registry-data"

    @property
    def url(self) -> str:
        """What clients of Confluent's registry connect to."""
        return f"http://127.0.0.1:{self._port}/apis/ccompat/v7"

    @staticmethod
    def answers(address: str) -> bool:
        return by_http(f"{address}/subjects")

    def _launch(self) -> None:
        unpacked = fetched("registry", self.progress)
        (runner,) = unpacked.glob("*/*-runner.jar")
        options = [
            *("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self._port}"),
            f"-Dapicurio.datasource.url=jdbc:h2:file:{self._data.absolute() / 'registry'};{_AT_ONCE}",
        ]
        command = [*java(), *options, "-jar", runner]
        self._run(Process("schema registry", command, self.folder / "registry.log", cwd=self.folder))
