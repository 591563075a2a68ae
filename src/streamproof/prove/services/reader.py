"""What a proof asks of one kind of service: the place of a scenario, its rows, its ledger."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamproof.config import ServiceSink
from streamproof.core.manifest import LedgerEntry


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
