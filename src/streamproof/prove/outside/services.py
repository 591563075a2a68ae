"""The services that a proof starts for a job, and what it asks of each."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from streamproof.config import HttpSink, JobConfig, KafkaSink, KafkaSource, PostgresSink, RedisSink, ServiceSink
from streamproof.core.manifest import LedgerEntry
from streamproof.lab.services import service
from streamproof.prove.outside.stores import STORES

if TYPE_CHECKING:
    from streamproof.lab.service import Service

_SERVICE_OF: Mapping[type, str] = {
    KafkaSource: "kafka",
    KafkaSink: "kafka",
    PostgresSink: "postgres",
    RedisSink: "redis",
    HttpSink: "api",
}


@dataclass(frozen=True)
class Published:
    """A row that a service holds: its columns as JSON has them, the hidden ones too, and the batch that published it, where that is known."""

    batch: int | None
    values: Mapping[str, Any]


class Reader(ABC):
    """What a proof asks of one kind of service."""

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


def needed(config: JobConfig, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The services that a job is bound to, and those that it keeps stores of its own in, each once."""
    found = [_SERVICE_OF[type(each)] for each in (*config.source.values(), *config.sink.values()) if type(each) in _SERVICE_OF]
    return tuple(dict.fromkeys([*found, *environment.values()]))


@dataclass
class Outside:
    """The running services of a proof.

    Parameters
    ----------
    folder
        Where their data and logs go.
    names
        Which ones, as `needed` gives them.
    environment
        The variables of the job's own stores, and the service of each.
    """

    folder: Path
    names: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    running: dict[str, "Service"] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _numbers: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> Self:
        """Starts them; LabError where one does not come up."""
        for name in self.names:
            self.running[name] = self._stack.enter_context(service(name, self.folder))
        return self

    def stop(self) -> None:
        self._stack.close()

    @property
    def urls(self) -> dict[str, str]:
        """Where each of them is."""
        return {name: each.url for name, each in self.running.items()}

    def stores(self, scenario: str) -> dict[str, str]:
        """By variable, the URL of a scenario's own store: the same at each of its starts."""
        if not self.environment:
            return {}
        with self._lock:
            free = next(number for number in count(1) if number not in self._numbers.values())
            number = self._numbers.setdefault(scenario, free)
        urls = self.urls
        return {name: STORES[kind].url(urls[kind], scenario, number) for name, kind in self.environment.items()}

    def open_stores(self, scenario: str) -> None:
        """Makes the stores of a scenario, empty."""
        for name, url in self.stores(scenario).items():
            STORES[self.environment[name]].open(url)

    def close_stores(self, scenario: str) -> None:
        """Removes them."""
        for name, url in self.stores(scenario).items():
            STORES[self.environment[name]].close(url)
        with self._lock:
            self._numbers.pop(scenario, None)


def reader(sink: ServiceSink) -> Reader:
    """What reads the outputs of a kind of service."""
    if isinstance(sink, PostgresSink):
        from streamproof.prove.outside.tables import Tables

        return Tables()
    if isinstance(sink, RedisSink):
        from streamproof.prove.outside.hashes import Hashes

        return Hashes()
    if isinstance(sink, HttpSink):
        from streamproof.prove.outside.effects import Effects

        return Effects()
    from streamproof.prove.outside.topics import Topics

    return Topics()
