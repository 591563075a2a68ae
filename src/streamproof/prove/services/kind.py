"""What a proof asks of one kind of service: each says it in a module of its own, and `kinds.py` lists them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from streamproof.config import ServiceSink
from streamproof.core.manifest import LedgerEntry
from streamproof.core.phases import Side
from streamproof.lab.services import service

if TYPE_CHECKING:
    from streamproof.lab.service import Service
    from streamproof.lab.toxiproxy import Proxy, Toxiproxy


@dataclass(frozen=True)
class Published:
    """A row that a service holds: its columns as JSON has them, the hidden ones too, and the batch that published it, where that is known."""

    batch: int | None
    values: Mapping[str, Any]


class Reader(ABC):
    """Reads what the outputs of a scenario have left in a service."""

    @abstractmethod
    def open(self, sink: ServiceSink) -> None:
        """Makes the place that a scenario's output will be written to."""

    @abstractmethod
    def rows(self, sink: ServiceSink, types: Mapping[str, str]) -> Iterator[Published]:
        """What readers of the output see; `types` are those of its columns, for a service that keeps none."""

    @abstractmethod
    def ledger(self, sink: ServiceSink, home: Path) -> Sequence[LedgerEntry]:
        """What its ledger says; empty where a row can take the place of an earlier batch's, and counts say nothing. `home` is the folder
        of what is staged.
        """

    @abstractmethod
    def close(self, sink: ServiceSink) -> None:
        """Removes the place."""


@dataclass(frozen=True)
class Given(ABC):
    """A service at a URL, which runs already; clients of services raise what they like."""

    url: str
    example: ClassVar[str]
    schemes: ClassVar[tuple[str, ...]]
    port: ClassVar[int]
    why_no_stores: ClassVar[str] = ""
    """Why it cannot hold a job's own stores, if it cannot: what those need there."""
    has_lines: ClassVar[bool] = True
    """Whether the proxy can stand before it."""

    @abstractmethod
    def ask(self) -> None:
        """Asks for what a proof needs there."""

    @abstractmethod
    def leave(self, begins: str) -> None:
        """Removes what has a name that begins so."""

    @property
    def readable(self) -> bool:
        """Whether the URL is one server's, and says nothing that would lead past it."""
        try:
            parts = urlsplit(self.url)
            return parts.scheme in self.schemes and bool(parts.hostname) and "," not in parts.netloc and parts.port != 0
        except ValueError:
            return False

    @property
    def servers(self) -> list[tuple[str, int]]:
        parts = urlsplit(self.url)
        return [(str(parts.hostname), parts.port or self.port)]

    @property
    def shown(self) -> str:
        """The URL without its password."""
        parts = urlsplit(self.url)
        user, at, server = parts.netloc.rpartition("@")
        query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if key != "password"])
        return parts._replace(netloc=f"{user.partition(':')[0]}{at}{server}", query=query).geturl()


class Store(ABC):
    """A store that a job connects to by itself: in each scenario an environment variable holds the URL of an empty one of its own."""

    @abstractmethod
    def url(self, server: str, scenario: str, number: int) -> str:
        """What a scenario connects to; `number` is less than the number of scenarios that are there at a time, and some."""

    @abstractmethod
    def open(self, url: str) -> None:
        """Makes it, empty."""

    @abstractmethod
    def close(self, url: str) -> None:
        """Removes it."""


class OwnPlace(ABC):
    """A place of each scenario's own for a plain PySpark job: what its words are, and how it is made and removed."""

    words: ClassVar[Sequence[str]]
    """What may stand in braces, without the topics."""
    means: ClassVar[str]
    """What a scenario has there, for people."""
    client: ClassVar[tuple[str, str]]
    """The library that makes it, and the extra that brings it."""
    example: ClassVar[str]
    """How it is used, for people."""

    @abstractmethod
    def values(self, server: str, scenario: str, number: int, topics: Sequence[str]) -> dict[str, str]:
        """By word what stands for it in a scenario; `number` is less than the number of scenarios that are there at a time, and some."""

    @abstractmethod
    def open(self, server: str, values: Mapping[str, str]) -> None:
        """Makes the place, empty."""

    @abstractmethod
    def close(self, server: str, values: Mapping[str, str]) -> None:
        """Removes it."""


class Kind(ABC):
    """One kind of service. What it does not say it does not have."""

    name: ClassVar[str]
    """Its name in the lab, and in `services` of the tables that are bound to it."""
    called: ClassVar[str]
    """What people call it, in a sentence."""
    server: ClassVar[bool] = True
    """Whether something is started for it, and reached by a line. One that is none lies in a folder of the proof."""
    given: ClassVar[type[Given] | None] = None
    """The same where it runs already."""
    not_given: ClassVar[tuple[str, str] | None] = None
    """That it cannot run already, where one might think so, and what is required."""
    store: ClassVar[Store | None] = None
    """A store of a job's own there."""
    own_place: ClassVar[OwnPlace | None] = None
    """A place for plain PySpark jobs there."""
    batches_wait: ClassVar[bool] = False
    """Whether the job goes on while it is away: only outputs need it, and their batches wait."""
    lost_answers: ClassVar[tuple[Side, ...]] = (Side.BEFORE,)
    """On which sides of a step an answer can be lost: a transaction is one answer, calls are many."""
    remembered: ClassVar[bool] = False
    """Whether the job remembers what it has said: only the first batch asks."""

    def start(self, folder: Path, brokers: int, proxy: "Toxiproxy | None") -> "Service":
        """The lab's service, not started; its data and logs go below the folder."""
        return service(self.name, folder)

    def lines(self, running: "Service", proxy: "Toxiproxy | None") -> "Sequence[Proxy]":
        """Its lines through the proxy; none without one."""
        if proxy is None:
            return ()
        return (proxy.line(self.name, urlsplit(running.url).netloc.rpartition("@")[2]),)

    def bound(self, sink: ServiceSink, scenario: str, output: str, urls: Mapping[str, str]) -> ServiceSink:
        """A sink that writes to the scenario's own place; both names are as services take them, `urls` are those of all services."""
        raise NotImplementedError(f"no output goes to {self.called}")

    @property
    def reader(self) -> Reader:
        """Reads its outputs; asked where one goes there, so its library may be imported."""
        raise NotImplementedError(f"no output goes to {self.called}")

    def tries(self, url: str, scenario: str) -> Mapping[str, int]:
        """How often a scenario has asked for each thing that has an effect."""
        return {}
