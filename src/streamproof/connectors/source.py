"""The protocol of sources: read, say what a start checks and pins, how much is unread, and what of it Spark can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from typing import Self

    from pyspark.sql import DataFrame, SparkSession

    from streamproof.config import JobConfig, SourceConfig
    from streamproof.connectors.lag import Lag, PartitionLag
    from streamproof.core.manifest import Fingerprint, Manifest
    from streamproof.core.notes import Note


@dataclass(frozen=True)
class Looked:
    """What `check` says of a source before a JVM starts; of a remote one that it was not `looked_at`."""

    says: str
    looked_at: bool = True

    @classmethod
    def not_from_here(cls, says: str) -> "Looked":
        """Of something that only the job itself can reach."""
        return cls(f"{says}, not looked at from here", looked_at=False)


@dataclass(frozen=True)
class Holding:
    """What a source holds now.

    Parameters
    ----------
    name
        The topic, or the folder.
    files, bytes
        Of a folder, how many files it has, and how large they are together.
    partitions
        Of a topic, how many it has.
    keeps
        How long the system keeps a record; None where it keeps it until somebody removes it.
    """

    name: str
    files: int = 0
    bytes: int = 0
    partitions: int = 0
    keeps: timedelta | None = None


@dataclass(frozen=True)
class Obstacle:
    """Why a source cannot be read as it is asked to be, in words; without a remedy that of whoever asked holds."""

    found: str
    required: str
    remedy: str = ""


@dataclass(frozen=True)
class Jars:
    """Jars that PySpark does not bring.

    Parameters
    ----------
    bundle
        Their name in `artifacts.toml`.
    part_of_name
        What the name of a jar has in it that a job may bring itself in their place.
    of_spark
        By minor version of Spark others, where these do not fit: they call classes of Spark that a later version has moved.
    """

    bundle: str
    part_of_name: str
    of_spark: Mapping[str, str] = field(default_factory=dict)

    def bundle_for(self, spark: str) -> str:
        """The bundle for a minor version of Spark, "4.1"."""
        return self.of_spark.get(spark, self.bundle)


@dataclass(frozen=True)
class Limit:
    """How much of a source a batch takes at most: so many "files", or "records"."""

    source: str
    most: int
    of: str


class Past(Protocol):
    """What a checkpoint says of the batches that have read from a source."""

    @property
    def checkpoint(self) -> str: ...

    def newest_first(self) -> "Iterator[Manifest]":
        """The whole manifests, from the newest on."""


class Notices(Protocol):
    """What a run notices of one source while it reads."""

    def look(self) -> "Iterable[Note]":
        """What there is to say now; what was said before may be said again."""


@dataclass(frozen=True)
class Source(ABC):
    """One source of a job: whoever wants to know something that depends on its kind asks it here.

    Parameters
    ----------
    name
        That of [source.NAME].
    config
        What is written there.
    resolve
        Gives the whole path of a configured one.
    """

    name: str
    config: "SourceConfig"
    resolve: Callable[[str], str] = str

    ends: ClassVar[bool] = True
    """Whether what it holds now is all of it: a bounded run reads that."""
    jars: ClassVar[Sequence[Jars]] = ()
    """What Spark needs to read it, and PySpark does not bring."""
    counts: ClassVar[str] = ""
    """What the limit of a batch counts: "files", "records"; empty where none can be set."""
    first: ClassVar[int] = 1
    """The limit of the first batch of a checkpoint where limits are adapted: nobody knows yet how long one takes."""

    @abstractmethod
    def read(self, spark: "SparkSession", *, stream: bool, trace: bool, intake: str = "", timed: bool = False) -> "DataFrame":
        """Its rows as they came, to be parsed and divided (`connectors.event_time.accepted`); in proofs also `_trace` (string).

        Parameters
        ----------
        intake
            The name of the `_jvm.Intake` that says how much a batch takes; empty where the configuration does.
        timed
            Whether `_appended` (TIMESTAMP) is wanted too: when a broker has taken a record. A source without one leaves it out.

        Raises
        ------
        StreamproofError
            If it is not there, or cannot be read so.
        """

    @abstractmethod
    def look(self, job: "JobConfig") -> Looked:
        """What can be seen of it without Spark.

        Raises
        ------
        ConfigurationError
            If it is not there, or cannot be read.
        """

    @property
    def most(self) -> int | None:
        """How much a batch takes at most, as it is configured; None for all that is there."""
        return None

    def taken(self, number: int, batch: "Fingerprint") -> int:
        """How much a batch has taken, as a limit counts it; asked where there can be one.

        Parameters
        ----------
        number
            That which Spark gives the source.
        """
        raise NotImplementedError(f"{self.config.connector} has no limit")

    @property
    def added_columns(self) -> Sequence[str]:
        """The columns of its rows beside those of its schema."""
        return ()

    @property
    def whole_files(self) -> str:
        """The format of files that are read whole or not at all; empty where records stand alone."""
        return ""

    @classmethod
    def require_same(
        cls, sources: "Mapping[int, Self]", past: Past, spark: "SparkSession", accepted: Collection[str]
    ) -> Mapping[str, str]:
        """Looks whether all sources of this kind are what the checkpoint has read; their ids, by what they are called, which its manifests keep.

        Parameters
        ----------
        sources
            By the number that Spark gives them.
        accepted
            What stands in for something that was read, and that a person vouches for.

        Raises
        ------
        WrongCheckpoint
            If they are others: what was read would be read again, or some of it never.
        StreamproofError
            If they are not there.
        """
        return {}

    def holding(self) -> Sequence[Holding]:
        """What it holds now; nothing where that cannot be told. It starts no JVM; a service is asked.

        Raises
        ------
        SourceUnavailable
            If a service does not answer.
        """
        return ()

    def lag(self, spark: "SparkSession", read_to: Iterable[str]) -> "Sequence[PartitionLag] | Note":
        """How much of each partition is unread; a note where nobody answers.

        Parameters
        ----------
        read_to
            The offsets that each query that reads it has come to, as Spark writes them; of several the one counts that is furthest behind.
        """
        return ()

    def lag_when_planned(self, read_to: str, latest: str) -> "Iterator[Lag]":
        """The lag of each partition after a batch, from two offsets as Spark writes them. So nobody is asked.

        Parameters
        ----------
        read_to, latest
            Where the batch ended; where the source ended when Spark planned it.
        """
        return iter(())

    def notices(self, spark: "SparkSession") -> Notices | None:
        """What a run notices while it reads; None where there is nothing."""
        return None

    @property
    def not_in_real_time(self) -> Obstacle | None:
        """Why the real-time trigger cannot read it; None where it can."""
        return Obstacle(f"[source.{self.name}] is {self.config.connector}", "It reads topics of Kafka.")

    def partitions(self, spark: "SparkSession") -> int:
        """How many tasks read it at the same time with the real-time trigger; asked where that can read it."""
        raise NotImplementedError(f"{self.config.connector} is not read in real time")
