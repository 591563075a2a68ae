"""The services that a proof starts for a job, and what it asks of each."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from streamproof.config import HttpSink, JobConfig, KafkaSink, KafkaSource, PostgresSink, RedisSink, ServiceSink
from streamproof.core.manifest import LedgerEntry
from streamproof.lab.services import service

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


def needed(config: JobConfig) -> tuple[str, ...]:
    """The services that a job is bound to, each once."""
    bound = (*config.source.values(), *config.sink.values())
    found = [_SERVICE_OF[type(each)] for each in bound if type(each) in _SERVICE_OF]
    found += ["registry" for each in bound if isinstance(each, KafkaSource | KafkaSink) and each.registry is not None]
    return tuple(dict.fromkeys(found))


@dataclass
class Outside:
    """The running services of a proof.

    Parameters
    ----------
    folder
        Where their data and logs go.
    names
        Which ones, as `needed` gives them.
    """

    folder: Path
    names: Sequence[str]
    running: dict[str, "Service"] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

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
