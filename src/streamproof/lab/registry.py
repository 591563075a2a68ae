"""Apicurio Registry, which speaks the API of Confluent's schema registry."""

from dataclasses import dataclass

from streamproof.lab.answering import by_http
from streamproof.lab.process import Process, java
from streamproof.lab.service import SingleProcess
from streamproof.runtime.artifacts import Progress, fetched


@dataclass
class Registry(SingleProcess):
    """A registry of its own, kept in memory: it is empty at its start and after `restart`."""

    progress: Progress | None = None

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
        options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self._port}"]
        command = [java(), *options, "-jar", runner]
        self._run(Process("schema registry", command, self.folder / "registry.log", cwd=self.folder))
