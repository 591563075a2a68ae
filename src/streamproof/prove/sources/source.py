"""The protocol of sources in a proof: where the events of a scenario lie, how they are written there, and how the job is bound to them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from streamproof.prove.scenario.generate import Event

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.config import SourceConfig
    from streamproof.prove.record.binding import ScenarioBinding
    from streamproof.prove.scenario.scenario import Scenario
    from streamproof.prove.services import Services


@dataclass(frozen=True)
class WrittenSource:
    """The events of a source as they were written, and by file or record the traces in it."""

    events: Sequence[Event]
    traces: Mapping[str, list[str]]


@dataclass(frozen=True)
class ProvedSource(ABC):
    """One source of a job in a proof.

    Parameters
    ----------
    name
        That of [source.NAME].
    config
        What is written there.
    """

    name: str
    config: "SourceConfig"
    takes_exactly: ClassVar[bool] = False
    """Whether its events can be any that are given, in batches with holes."""

    def require_fits(self, scenario: "Scenario") -> None:
        """ScenarioError if the scenario asks for something that this kind of source cannot give."""
        return

    @abstractmethod
    def place(self, folder: Path, services: "Services", *, trace: bool) -> str:
        """Where its events lie in a proof: with their trace ids, or as they are shipped."""

    @abstractmethod
    def write(
        self, made: Sequence[Event], scenario: "Scenario", folder: Path, services: "Services", *, several: bool
    ) -> WrittenSource:
        """Writes events to both of its places; needs no Spark.

        Parameters
        ----------
        several
            Whether the job has other sources: no two files may be called alike then.
        """

    @abstractmethod
    def at(self, binding: "ScenarioBinding") -> "SourceConfig":
        """What the job is bound to in a scenario."""

    def with_records(self, rows: "DataFrame", traces: Mapping[str, Sequence[str]]) -> "DataFrame":
        """The rows with what a record has beside its columns, where the source asks for it.

        Parameters
        ----------
        traces
            By record the traces in it.
        """
        return rows
