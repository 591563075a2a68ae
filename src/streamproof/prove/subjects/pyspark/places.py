"""Where a job writes and reads, by what it calls the place: what it has written it can read back, in the scenario's folder."""

from pathlib import Path, PurePosixPath

from streamproof.core.paths import as_pattern
from streamproof.errors import ScenarioError
from streamproof.prove.record.binding import OUT

WRITTEN = "written"
"""Below a scenario's outputs: what the job writes by batch writers, in functions of `foreachBatch` or beside its queries."""


class Places:
    """The places that a job names in a scenario.

    Parameters
    ----------
    base, folder
        The scenario's folder, as Spark and as Python call it.
    """

    def __init__(self, base: str, folder: Path) -> None:
        self._base, self._folder = base, folder
        self._streamed: dict[tuple[bool, str], str] = {}
        self._read: set[tuple[bool, str]] = set()

    def reads(self, place: str, *, topic: bool = False) -> None:
        """Notes that a stream is read from there: a topic, or a folder or table.

        Raises
        ------
        ScenarioError
            If a query of the job writes it: nothing passes from one query to another in a proof.
        """
        self._read.add((topic, _word(place)))
        if (topic, _word(place)) in self._streamed:
            raise _passed_on(place)

    @property
    def streamed_from(self) -> tuple[str, ...]:
        """The folders and tables that streams of the job read."""
        return tuple(place for topic, place in self._read if not topic)

    def streams_to(self, place: str, bound: str, *, topic: bool = False) -> None:
        """Notes that a query writes there, and where that is in the scenario.

        Raises
        ------
        ScenarioError
            If a stream of the job reads it.
        """
        if not place:
            return
        self._streamed[topic, _word(place)] = bound
        if (topic, _word(place)) in self._read:
            raise _passed_on(place)

    def is_bound(self, place: str) -> bool:
        """Whether it lies in the scenario's folder."""
        own = (self._base, str(self._folder))
        return place.startswith((*own, *map(as_pattern, own)))

    def of_batch_writer(self, place: str) -> str:
        """Where a batch writer writes: the same path below the scenario's folder, so that two writers of one path meet there too."""
        return f"{self._base}/{OUT}/{WRITTEN}/{_below(place)}"

    def read_back(self, place: str) -> str:
        """Where a batch reader finds what the job has written there; the place itself where it has written nothing."""
        if (False, _word(place)) in self._streamed:
            return self._streamed[False, _word(place)]
        return self.of_batch_writer(place) if (self._folder / OUT / WRITTEN / _below(place)).is_dir() else place


def output_at(place: str) -> str:
    """The name of the output that a batch writer of a place writes: its path without partitions, as readers of it see one table."""
    return "/".join(part for part in _below(place).split("/") if "=" not in part)


def _below(place: str) -> str:
    parts = [part for part in PurePosixPath(place.rpartition("://")[2]).parts if part not in ("/", "..", ".")]
    return "/".join(parts) or "out"


def _word(place: str) -> str:
    return place.rpartition("://")[2].rstrip("/")


def _passed_on(place: str) -> ScenarioError:
    return ScenarioError(
        f"The job reads {place} as a stream, and writes it by another query.",
        required="In a proof each stream of a job gets the events of a sample; nothing passes from one query to another.",
        remedy="Prove each query by itself: a function for each, and a sample of what it reads.",
    )
