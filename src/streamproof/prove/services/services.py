"""The services of a proof, started for it or given to it, and what it asks of each."""

import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from streamproof.config import HttpSink, JobConfig, PostgresSink, RedisSink, ServiceSink
from streamproof.core.ids import new_id, short
from streamproof.errors import LabError
from streamproof.lab.api import tries_at
from streamproof.lab.kafka import KafkaCluster
from streamproof.lab.services import fetch, service, there
from streamproof.lab.toxiproxy import Proxy, Toxiproxy
from streamproof.prove.services.given import left, server
from streamproof.prove.services.reader import Reader
from streamproof.prove.services.stores import STORES

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
        proxy = self._proxy() if self.names and self.proxied else None
        for name, url in self.given.items():
            if proxy is not None and name != "kafka":
                self.lines[name] = (proxy.line(name, server(name, url)),)
        for name in self.names:
            if name in self.given:
                continue
            own = KafkaCluster(self.folder / name, self.brokers, proxy) if name == "kafka" else service(name, self.folder)
            self.running[name] = self._stack.enter_context(own)
            if isinstance(own, KafkaCluster):
                self.lines[name] = own.lines
            elif proxy is not None:
                self.lines[name] = (proxy.line(name, urlsplit(own.url).netloc.rpartition("@")[2]),)
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
        direct = {**{name: each.url for name, each in self.running.items() if name in self.names}, **self.given}
        return {name: _by_line(url, self.lines[name]) if name == by_line else url for name, url in direct.items()}

    def stores(self, scenario: str, by_line: str = "") -> dict[str, str]:
        """By variable, the URL of a scenario's own store: the same at each of its starts; through the proxy where its service is named."""
        if not self.environment:
            return {}
        number = self.number(scenario)
        urls = self.urls(by_line)
        return {name: STORES[kind].url(urls[kind], scenario, number) for name, kind in self.environment.items()}

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
        """How often a scenario has asked the API to do each thing; empty where there is none."""
        return tries_at(f"{self.running['api'].url}/{own_name(scenario)}") if "api" in self.names else {}

    def open_stores(self, scenario: str) -> None:
        """Makes the stores of a scenario, empty."""
        for name, url in self.stores(scenario).items():
            STORES[self.environment[name]].open(url)

    def close_stores(self, scenario: str) -> None:
        """Removes them."""
        for name, url in self.stores(scenario).items():
            STORES[self.environment[name]].close(url)
        self.release(scenario)


def own_name(scenario: str) -> str:
    """A scenario's name as services take it: in schemas, topics, prefixes and paths."""
    return re.sub(r"\W", "_", scenario).lower()


def _by_line(url: str, lines: Sequence[Proxy]) -> str:
    addresses = ",".join(line.address for line in lines)
    parts = urlsplit(url)
    if not parts.netloc:
        return addresses
    user, at, _ = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}{at}{addresses}").geturl()


def reader(sink: ServiceSink) -> Reader:
    """What reads the outputs of a kind of service."""
    if isinstance(sink, PostgresSink):
        from streamproof.prove.services.tables import Tables

        return Tables()
    if isinstance(sink, RedisSink):
        from streamproof.prove.services.hashes import Hashes

        return Hashes()
    if isinstance(sink, HttpSink):
        from streamproof.prove.services.effects import Effects

        return Effects()
    from streamproof.prove.services.topics import Topics

    return Topics()
