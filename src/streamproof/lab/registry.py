"""Apicurio Registry, which speaks the API of Confluent's schema registry."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from streamproof.lab.process import Process, answers_http, free_ports, java
from streamproof.lab.service import Service
from streamproof.runtime.artifacts import Progress, fetched


@dataclass
class Registry(Service):
    """A registry of its own, empty at its start and kept in memory."""

    folder: Path
    progress: Progress | None = None
    _port: int = 0
    _process: Process | None = None

    @property
    def url(self) -> str:
        """What clients of Confluent's registry connect to."""
        return f"http://127.0.0.1:{self._port}/apis/ccompat/v7"

    def start(self) -> Self:
        """Starts it and waits until it answers; LabError where it does not."""
        unpacked = fetched("registry", self.progress)
        (runner,) = unpacked.glob("*/*-runner.jar")
        self._port = self._port or free_ports(1)[0]
        options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self._port}"]
        command = [java(), *options, "-jar", runner]
        self._process = Process("schema registry", command, self.folder / "registry.log", cwd=self.folder)
        self._process.ready(answers_http(f"{self.url}/subjects"))
        return self

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
