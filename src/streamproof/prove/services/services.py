"""The services of a proof, started for it or given to it, and what it asks of each."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from streamproof.config import JobConfig
from streamproof.core.ids import new_id, short
from streamproof.errors import LabError
from streamproof.lab.services import fetch, service, there
from streamproof.lab.toxiproxy import Proxy, Toxiproxy
from streamproof.prove.services.given import has_lines, left, server
from streamproof.prove.services.kind import Store
from streamproof.prove.services.kinds import KINDS

if TYPE_CHECKING:
    from streamproof.lab.service import Service


def needed(config: JobConfig, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The services that a job is bound to, and those that it keeps stores of its own in, each once."""
    found = [service for source in config.source.values() for service in source.services]
    found += [service for sink in config.sink.values() for service in sink.services]
    return tuple(dict.fromkeys([*found, *environment.values()]))


@dataclass
class Services:
    """The running services of a proof.

    Parameters
    ----------
    folder
        Where their data and logs go.
    names
        Which ones, as `needed` gives them.
    environment
        The variables of the job's own stores, and the service of each.
    brokers
        How many brokers Kafka has.
    given
        By service the URL of one that runs already, and is not started.
    proxied
        Whether each has a line through a proxy, which faults on the network need.
    lines
        By service its lines through the proxy; a given Kafka has none, since its brokers tell clients where they are.
    """

    folder: Path
    names: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    brokers: int = 1
    given: Mapping[str, str] = field(default_factory=dict)
    proxied: bool = True
    running: dict[str, "Service"] = field(default_factory=dict)
    lines: dict[str, Sequence[Proxy]] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _numbers: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _gone: str = ""
    _proof: str = field(default_factory=lambda: f"sp{short(new_id())}")

    @property
    def prefix(self) -> str:
        """What all names of the proof begin with, where others have theirs in the same services."""
        return f"{self._proof}-" if self.given else ""

    def start(self) -> Self:
        """Starts them, each with a line to it through Toxiproxy where there is one; LabError where one does not come up."""
        started = [name for name in self.names if KINDS[name].server and name not in self.given]
        proxy = self._proxy() if (started or self.given) and self.proxied else None
        for name, url in self.given.items():
            if proxy is not None and has_lines(name):
                self.lines[name] = (proxy.line(name, server(name, url)),)
        for name in started:
            self.running[name] = self._stack.enter_context(KINDS[name].start(self.folder, self.brokers, proxy))
            if lines := KINDS[name].lines(self.running[name], proxy):
                self.lines[name] = lines
        return self

    def spark(self) -> str:
        """The master of a cluster, which is started when it is first asked for."""
        if "spark" not in self.running:
            self.running["spark"] = self._stack.enter_context(service("spark", self.folder))
        return self.running["spark"].url

    def _proxy(self) -> Toxiproxy | None:
        """The proxy; built where that can be done, None where it cannot: the plan says then what it leaves out."""
        if not there("toxiproxy"):
            try:
                fetch("toxiproxy")
            except LabError:
                return None
        return self._stack.enter_context(Toxiproxy(self.folder / "toxiproxy"))

    def require_alive(self, *, look: bool) -> None:
        """LabError where one of them has died by itself; from then on at once, since every scenario would wait for it in vain.

        It is not started again: it may have lost what scenarios have in it, and their loss would be taken for the job's.

        Parameters
        ----------
        look
            Whether to look now; not while a fault may have ended one on purpose.
        """
        if look and not self._gone:
            self._gone = next((each.dead for each in self.running.values() if each.dead), "")
        if self._gone:
            raise LabError(
                f"A service of the proof has died: {self._gone}",
                required="The services of a proof run to its end.",
                remedy="Look whether the disk or the memory of the machine is full, and prove again.",
            )

    @property
    def alive(self) -> bool:
        """Whether none is known to have died."""
        return not self._gone

    def leave(self) -> list[str]:
        """Removes what the proof has made in services that were given; says what could not be removed."""
        return left(self.given, self._proof)

    def stop(self) -> None:
        self.leave()
        self._stack.close()

    def urls(self, by_line: str = "") -> dict[str, str]:
        """Where each of them is; one of them, if it is named, through the proxy."""
        of_files = {name: str(self.folder / name) for name in self.names if not KINDS[name].server}
        direct = {**{name: each.url for name, each in self.running.items() if name in self.names}, **of_files, **self.given}
        return {name: _by_line(url, self.lines[name]) if name == by_line else url for name, url in direct.items()}

    def stores(self, scenario: str, by_line: str = "") -> dict[str, str]:
        """By variable, the URL of a scenario's own store: the same at each of its starts; through the proxy where its service is named."""
        if not self.environment:
            return {}
        number = self.number(scenario)
        urls = self.urls(by_line)
        return {name: _store(kind).url(urls[kind], scenario, number) for name, kind in self.environment.items()}

    def number(self, scenario: str) -> int:
        """A number of the scenario's own, as small as can be, until it is released."""
        with self._lock:
            free = next(number for number in count(1) if number not in self._numbers.values())
            return self._numbers.setdefault(scenario, free)

    def release(self, scenario: str) -> None:
        """Gives the number of a scenario to the next one."""
        with self._lock:
            self._numbers.pop(scenario, None)

    def tries(self, scenario: str) -> dict[str, int]:
        """How often a scenario has asked for each thing that has an effect; empty where nobody counts."""
        urls = self.urls()
        return {what: tried for name in self.names for what, tried in KINDS[name].tries(urls[name], scenario).items()}

    def open_stores(self, scenario: str) -> None:
        """Makes the stores of a scenario, empty."""
        for name, url in self.stores(scenario).items():
            _store(self.environment[name]).open(url)

    def close_stores(self, scenario: str) -> None:
        """Removes them."""
        for name, url in self.stores(scenario).items():
            _store(self.environment[name]).close(url)
        self.release(scenario)


def _store(kind: str) -> Store:
    """A store of a job's own in a kind of service."""
    found = KINDS[kind].store
    assert found is not None, "the scenario's file names kinds that have one"
    return found


def _by_line(url: str, lines: Sequence[Proxy]) -> str:
    addresses = ",".join(line.address for line in lines)
    parts = urlsplit(url)
    if not parts.netloc:
        return addresses
    user, at, _ = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}{at}{addresses}").geturl()
