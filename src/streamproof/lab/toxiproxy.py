"""Toxiproxy between a client and a service: latency, bandwidth, resets, and cutting the line, by its HTTP interface."""

import json
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from streamproof.errors import LabError
from streamproof.lab.answering import by_http
from streamproof.lab.process import Process, done_within, free_ports
from streamproof.lab.service import SingleProcess
from streamproof.runtime.spark import artifacts
from streamproof.runtime.spark.artifacts import cache

VERSION = "v2.12.0"
_MODULE = f"github.com/Shopify/toxiproxy/v2/cmd/server@{VERSION}"


@dataclass
class Proxy:
    """One line through the proxy: clients connect to `address` instead of the service."""

    name: str
    address: str
    _api: str

    def carried(self) -> int:
        """How many bytes came over this line, from either side, on connections that have ended."""
        found = re.findall(
            rf'^toxiproxy_proxy_received_bytes_total{{.*proxy="{self.name}".*}} (\S+)$', _text("GET", f"{self._api}/metrics"), re.M
        )
        return sum(int(float(count)) for count in found)

    def cut(self) -> None:
        """Closes every connection and takes no new one."""
        _asked("POST", f"{self._api}/proxies/{self.name}", {"enabled": False})

    def mend(self) -> None:
        """Takes connections again, and takes every toxic off."""
        for toxic in _asked("GET", f"{self._api}/proxies/{self.name}/toxics"):
            _asked("DELETE", f"{self._api}/proxies/{self.name}/toxics/{toxic['name']}")
        _asked("POST", f"{self._api}/proxies/{self.name}", {"enabled": True})

    def toxic(self, kind: str, *, towards: str = "downstream", **attributes: int) -> None:
        """Adds a toxic of Toxiproxy's: `latency` (latency, jitter in ms), `bandwidth` (rate in KB/s), `reset_peer` (timeout in ms),
        `timeout` (timeout in ms, 0 for ever), `slow_close`, `limit_data` (bytes).
        """
        body = {"type": kind, "stream": towards, "attributes": attributes}
        _asked("POST", f"{self._api}/proxies/{self.name}/toxics", body)


@dataclass
class Toxiproxy(SingleProcess):
    """The proxy; `line` makes a line to a service. Its lines come back with `restart`, without their toxics."""

    _lines: dict[str, tuple[str, str]] = field(default_factory=dict, init=False)

    @property
    def url(self) -> str:
        """Its HTTP interface."""
        return f"http://127.0.0.1:{self._port}"

    @staticmethod
    def answers(address: str) -> bool:
        return by_http(f"{address}/version")

    def _launch(self) -> None:
        command = [program(), "-host", "127.0.0.1", "-port", str(self._port), "-proxy-metrics"]
        self._run(Process("Toxiproxy", command, self.folder / "toxiproxy.log"))
        for name, (address, to) in self._lines.items():
            self._open(name, address, to)

    def line(self, name: str, to: str) -> Proxy:
        """A new line to `host:port`."""
        (port,) = free_ports(1)
        address = f"127.0.0.1:{port}"
        self._open(name, address, to)
        self._lines[name] = address, to
        return Proxy(name, address, self.url)

    def _open(self, name: str, address: str, to: str) -> None:
        _asked("POST", f"{self.url}/proxies", {"name": name, "listen": address, "upstream": to, "enabled": True})


def found() -> Path | None:
    """The Toxiproxy server: of the PATH, else of the cache, where `streamproof lab fetch` builds it."""
    on_path = shutil.which("toxiproxy-server") or shutil.which("toxiproxy")
    built = cache() / f"toxiproxy-{VERSION}" / "server"
    return Path(on_path) if on_path is not None else built if built.exists() else None


def program() -> Path:
    """The Toxiproxy server; LabError where it is not there."""
    server = found()
    if server is None:
        raise LabError(
            "Toxiproxy is not there.",
            required="Its server, 2.5 or newer, is looked for on the PATH as toxiproxy-server.",
            remedy="Install it, or build it once: streamproof lab fetch toxiproxy (needs Go).",
        )
    return server


def build() -> Path:
    """Builds the server with Go into the cache; LabError where there is no Go or it fails."""
    if artifacts.elsewhere is not None:  # this process has no network, and may not write there
        return artifacts.elsewhere(_built)
    return _built()


def _built() -> Path:
    go = shutil.which("go")
    if go is None:
        raise LabError(
            "Toxiproxy is not there, and there is no Go to build it with.",
            remedy="Install toxiproxy-server (Debian has no package; macOS: brew install toxiproxy), or Go.",
        )
    target = cache() / f"toxiproxy-{VERSION}"
    target.mkdir(parents=True, exist_ok=True)
    done = done_within(900, "Building Toxiproxy", [go, "install", _MODULE], env={**os.environ, "GOBIN": str(target)})
    if done.returncode:
        raise LabError("Toxiproxy could not be built.", required=done.stderr.strip()[-1000:])
    return target / "server"


def _asked(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    text = _text(method, url, None if body is None else json.dumps(body).encode())
    return json.loads(text) if text else None


def _text(method: str, url: str, data: bytes | None = None) -> str:
    with urlopen(Request(url, data=data, method=method, headers={"User-Agent": "streamproof"}), timeout=10) as answer:  # noqa: S310
        return str(answer.read(), "utf-8")
