"""Prometheus, as it is installed on this machine: it scrapes one address, or several, each second, with the rules that it is given."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from streamproof.errors import LabError
from streamproof.lab.answering import by_http
from streamproof.lab.process import Process
from streamproof.lab.service import SingleProcess, empty

PROMTOOL = "PROMTOOL"
"""The environment variable that names a promtool; Prometheus lies beside it."""


@dataclass
class Prometheus(SingleProcess):
    """A server of its own, empty at its start.

    Parameters
    ----------
    scraped
        `HOST:PORT` of the endpoint that it scrapes, or several with commas between them; they may come later.
    rules
        The alert rules, as YAML.
    """

    scraped: str = ""
    rules: str = "groups: []"

    @property
    def url(self) -> str:
        """Its HTTP interface, and its own pages."""
        return f"http://127.0.0.1:{self._port}"

    @staticmethod
    def answers(address: str) -> bool:
        return by_http(f"{address}/-/ready")

    def asked(self, path: str, **query: str) -> Any:
        """The data of an answer of its HTTP API, version 1; OSError where it does not answer, or refuses what is asked."""
        with urlopen(f"{self.url}/api/v1/{path}?{urlencode(query)}", timeout=10) as answer:  # noqa: S310 -- a service of our own
            return json.load(answer)["data"]

    def series(self, expression: str) -> list[dict[str, Any]]:
        """What an expression of PromQL gives now."""
        found: list[dict[str, Any]] = self.asked("query", query=expression)["result"]
        return found

    def firing(self) -> dict[str, dict[str, str]]:
        """The alerts that fire, by name, with their annotations."""
        return {
            one["labels"]["alertname"]: one["annotations"] for one in self.asked("alerts")["alerts"] if one["state"] == "firing"
        }

    def _launch(self) -> None:
        program = found()
        if program is None:
            raise LabError(
                "Prometheus is not there.",
                required="The lab has no download of it: the program `prometheus` must be on the PATH, or beside the promtool that PROMTOOL names.",
                remedy="Debian: apt install prometheus. macOS: brew install prometheus.",
            )
        home = self.folder / "prometheus"
        empty(home)
        (home / "rules.yml").write_text(self.rules)
        every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        scraped = [{"job_name": "streamproof", "static_configs": [{"targets": self.scraped.split(",")}]}]
        (home / "prometheus.yml").write_text(json.dumps({"global": every, "rule_files": ["rules.yml"], "scrape_configs": scraped}))
        command = [
            program,
            f"--config.file={home / 'prometheus.yml'}",
            f"--storage.tsdb.path={home / 'data'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
        ]
        self._run(Process("Prometheus", command, self.folder / "prometheus.log"))


def found() -> Path | None:
    """The program; None where there is none."""
    promtool = os.environ.get(PROMTOOL)
    beside = Path(promtool).with_name("prometheus") if promtool else None
    on_path = shutil.which("prometheus")
    return beside if beside is not None and beside.is_file() else Path(on_path) if on_path else None
