"""A stand-in for an API that moves money: no such service can be had for a test. It counts what it was made to do, twice too.

It speaks HTTP in a process of its own, so that calls to it can be cut off; it keeps what it did in memory.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen

from streamproof.lab.answering import by_http
from streamproof.lab.process import Process
from streamproof.lab.service import SingleProcess


@dataclass
class PaymentsApi(SingleProcess):
    """`POST /any/path` with an Idempotency-Key does something once; below `/careless` it does it each time.

    `GET /any/path/KEY` says whether it was done, `effects` everything that was done, `tries_at` how often it was asked.
    It forgets over `restart`.
    """

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @staticmethod
    def answers(address: str) -> bool:
        return by_http(f"{address}/_up")

    def _launch(self) -> None:
        command = [sys.executable, "-m", "streamproof.lab.api", str(self._port)]
        self._run(Process("payments API", command, self.folder / "api.log"))

    def behave(self, mode: str, times: int, *, key: str | None = None) -> None:
        """So many of the next calls, of one key or of any, meet it so: "well", answered with a status such as "429", "hangs-before-work" or
        "hangs-after-work".
        """
        told = json.dumps({"mode": mode, "times": times, "key": key}).encode()
        with urlopen(Request(f"{self.url}/_behave", data=told, method="POST")):  # noqa: S310
            pass

    def met(self) -> int:
        """How many calls the last mode but "well" has met so far."""
        with urlopen(f"{self.url}/_met") as answer:  # noqa: S310 -- a service of our own
            return int(json.load(answer))

    def effects(self, path: str) -> list[dict[str, Any]]:
        """What was done at a path, in order: `key`, `body`, `headers` (those that begin with Streamproof)."""
        return effects_at(f"{self.url}{path}")


def tries_at(url: str) -> dict[str, int]:
    """How often a payments API was asked to do each thing below an address: by "path key"."""
    with urlopen(f"{url}/_tries") as answer:  # noqa: S310 -- a service of our own
        found: dict[str, int] = json.load(answer)
    return found


def effects_at(url: str) -> list[dict[str, Any]]:
    """What a payments API was made to do at an address."""
    with urlopen(f"{url}/_effects") as answer:  # noqa: S310 -- a service of our own
        found: list[dict[str, Any]] = json.load(answer)
    return found


@dataclass
class _State:
    effects: list[dict[str, Any]] = field(default_factory=list)
    done: set[tuple[str, str]] = field(default_factory=set)
    mode: str = "well"
    times: int = 0
    key: str | None = None
    met: int = 0
    tries: Counter[tuple[str, str]] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def behave(self, mode: str, times: int, key: str | None) -> None:
        with self.lock:
            self.mode, self.times, self.key = mode, times, key
            if mode != "well":
                self.met = 0

    def next_mode(self, key: str) -> str:
        with self.lock:
            if self.times <= 0 or self.key not in (None, key):
                return "well"
            self.times -= 1
            self.met += self.mode != "well"
            return self.mode

    def do(self, path: str, key: str, body: Any, headers: Mapping[str, str]) -> bool:
        """Does it; False where it was done before and the path minds that."""
        with self.lock:
            if (path, key) in self.done and not path.startswith("/careless"):
                return False
            self.done.add((path, key))
            self.effects.append({"path": path, "key": key, "body": body, "headers": dict(headers)})
            return True


class _Handler(BaseHTTPRequestHandler):
    state = _State()
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/_behave":
            told = json.loads(body)
            self.state.behave(told["mode"], told["times"], told["key"])
            self._answer(200, {})
            return
        with self.state.lock:
            self.state.tries[self.path, self.headers.get("Idempotency-Key", "")] += 1
        mode = self.state.next_mode(self.headers.get("Idempotency-Key", ""))
        if mode.isdigit():
            self._answer(int(mode), {"error": mode})
            return
        if mode == "hangs-before-work":
            self._hang()
            return
        own = {name: value for name, value in self.headers.items() if name.startswith("Streamproof")}
        new = self.state.do(self.path, self.headers.get("Idempotency-Key", ""), json.loads(body), own)
        if mode == "hangs-after-work":
            self._hang()
            return
        self._answer(201 if new else 200, {"done": True})

    def do_GET(self) -> None:
        if self.path == "/_up":
            self._answer(200, {})
        elif self.path == "/_met":
            self._answer(200, self.state.met)
        elif self.path.endswith("/_effects"):
            at = self.path.removesuffix("/_effects")
            self._answer(200, [each for each in self.state.effects if each["path"] == at])
        elif self.path.endswith("/_tries"):
            below = self.path.removesuffix("_tries")
            with self.state.lock:
                self._answer(
                    200, {f"{path} {key}": times for (path, key), times in self.state.tries.items() if below in f"{path}/"}
                )
        else:
            path, _, key = self.path.rpartition("/")
            self._answer(200 if (path, key) in self.state.done else 404, {})

    def _hang(self) -> None:
        """Keeps the connection and says nothing, until the client gives up."""
        self.connection.settimeout(60)
        self.close_connection = True
        try:
            while self.connection.recv(1):
                pass
        except OSError:
            return

    def _answer(self, status: int, body: Any) -> None:
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, *_: object) -> None:
        """Silent."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()
