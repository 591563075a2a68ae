"""A real Prometheus for a test: it scrapes what it is told every second, and has the rules that it is given."""

import json
import os
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamproof.lab.process import free_ports, until


@dataclass(frozen=True)
class Prometheus:
    """One that runs, by its address."""

    url: str

    def asked(self, path: str, **query: str) -> Any:
        """The data of an answer of its API; what it says where it refuses."""
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=10) as answer:
            said = json.load(answer)
        assert said["status"] == "success", said
        return said["data"]

    def series(self, expression: str) -> list[dict[str, Any]]:
        """What an expression of PromQL gives now."""
        found: list[dict[str, Any]] = self.asked("query", query=expression)["result"]
        return found

    def firing(self) -> set[str]:
        """The names of the alerts that fire."""
        return {one["labels"]["alertname"] for one in self.asked("alerts")["alerts"] if one["state"] == "firing"}


def program() -> str:
    """Where it is; without it the test is skipped, and fails where CI is set."""
    beside = Path(os.environ.get("PROMTOOL", "")).with_name("prometheus") if os.environ.get("PROMTOOL") else None
    found = str(beside) if beside is not None and beside.is_file() else shutil.which("prometheus")
    if found is None:
        why = "prometheus is not there: install it, or name the promtool beside it in PROMTOOL"
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    return found


@contextmanager
def scraping(folder: Path, target: str, rules: str) -> Iterator[Prometheus]:
    """One that scrapes `HOST:PORT` as long as the block lasts."""
    (port,) = free_ports(1)
    folder.mkdir()
    (folder / "rules.yml").write_text(rules)
    every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    scraped = [{"job_name": "streamproof", "static_configs": [{"targets": [target]}]}]
    (folder / "prometheus.yml").write_text(json.dumps({"global": every, "rule_files": ["rules.yml"], "scrape_configs": scraped}))
    options = [
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen([program(), *options], stdout=log, stderr=log)
        try:
            until(
                lambda: _answers(f"http://127.0.0.1:{port}/-/ready"),
                "Prometheus",
                60,
                gone=lambda: running.poll() is not None,
                said=(folder / "log").read_text,
            )
            yield Prometheus(f"http://127.0.0.1:{port}")
        finally:
            running.terminate()
            running.wait(20)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
