"""A Spark cluster of processes from the pip package: one master, workers with one core each."""

import json
import tempfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Self
from urllib.error import URLError
from urllib.request import urlopen

from streamproof.errors import EnvironmentProblem
from streamproof.lab.answering import by_connection
from streamproof.lab.process import Process, free_ports
from streamproof.lab.service import Service


@dataclass
class SparkCluster(Service):
    """Executors are processes of their own, which can be killed one by one."""

    folder: Path
    workers: int = 2
    _ports: tuple[int, int] = (0, 0)
    _processes: list[Process] = field(default_factory=list)

    @property
    def url(self) -> str:
        """What a session has as its master."""
        return f"spark://127.0.0.1:{self._ports[0]}"

    @property
    def page(self) -> str:
        """The master's page."""
        return f"http://127.0.0.1:{self._ports[1]}"

    def start(self) -> Self:
        port, page = free_ports(2)
        self._ports = port, page
        self._launch("master", "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page))
        for number in range(1, self.workers + 1):
            (own,) = free_ports(1)
            work = self.folder / f"work-{number}"
            options = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", str(own), "--work-dir", str(work))
            self._launch(f"worker-{number}", "worker.Worker", *options, self.url)
        self._processes[0].ready(self._complete)
        return self

    @staticmethod
    def answers(address: str) -> bool:
        return by_connection(address.removeprefix("spark://"))

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.kill()

    def _launch(self, name: str, class_: str, *arguments: str) -> None:
        command = [_spark() / "bin" / "spark-class", f"org.apache.spark.deploy.{class_}", *arguments]
        log, own = self.folder / f"{name}.log", tempfile.gettempdir()  # in a proof that is set apart nobody may write to /tmp
        environment = {"SPARK_LOCAL_DIRS": own, "SPARK_DAEMON_JAVA_OPTS": f"-Djava.io.tmpdir={own}"}
        self._processes.append(Process(f"Spark {name}", command, log, cwd=self.folder, environment=environment))

    def _complete(self) -> bool:
        """Whether the master counts every worker as alive."""
        try:
            with urlopen(f"{self.page}/json/", timeout=2) as answer:  # noqa: S310 -- a service of our own
                return bool(json.load(answer)["aliveworkers"] == self.workers)
        except (URLError, OSError, ValueError, KeyError):
            return False


def _spark() -> Path:
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise EnvironmentProblem("PySpark is not installed.", remedy="Run: pip install 'pyspark==4.3.*'")
    return Path(found.origin).parent
