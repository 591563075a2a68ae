"""How far a job has read the topics of its sources, and how much is left (S3)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.checkpoint.logs import positions_in
from streamproof.config import KafkaSource
from streamproof.core.notes import Note, NoteCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.core.manifest import Manifest

_TIMEOUTS = {"request.timeout.ms": "8000", "default.api.timeout.ms": "10000"}


@dataclass(frozen=True)
class Lag:
    """One partition of a topic: the offset after the last record that is published or waits staged, the end of the partition, and how many
    offsets lie between; the marks of transactions have offsets too.

    Where only committed records are read, the end is the offset after the last record that can be read.
    """

    source: str
    topic: str
    partition: int
    position: int
    end: int
    lag: int


@dataclass(frozen=True)
class PartitionLag(Lag):
    """The lag at the end of a run; `undecided` offsets lie after the end, in a transaction that is open, or after one."""

    undecided: int = 0


def lag_of(
    spark: "SparkSession", sources: Mapping[str, KafkaSource], newest: Iterable["Manifest"], notes: list[Note]
) -> list[PartitionLag]:
    """The lag of each partition of the topics; where a broker does not answer, a note says so.

    Parameters
    ----------
    newest
        The newest manifest of each query that reads one of the sources; of several the one counts that is furthest behind.
    """
    read: dict[tuple[str, int], int] = {}
    for manifest in newest:
        for topic, number, position in _positions(manifest):
            read[topic, number] = min(position, read.get((topic, number), position))
    found: list[PartitionLag] = []
    for name, source in sources.items():
        settings = {**_TIMEOUTS, **source.options, "bootstrap.servers": source.servers}
        asked = _jvm.kafka_offsets(spark, settings, source.topic)
        if isinstance(asked, str):
            said = f"How far [source.{name}] is behind could not be asked of {source.servers}: {_jvm.plain(asked)}"
            notes.append(Note(NoteCode.LAG_UNKNOWN, said))
            continue
        begun = any(topic in source.topic for topic, _ in read)
        for (topic, number), offsets in sorted(asked.items()):
            end = offsets.stable if source.read == "committed" else offsets.end
            # Of a partition that is new while the job runs everything is read, wherever the job began.
            unread = end if source.start == "latest" and not begun else offsets.first
            position = read.get((topic, number), unread)
            found.append(
                PartitionLag(name, topic, number, position, end, max(0, end - max(position, offsets.first)), offsets.end - end)
            )
    return found


def lag_when_planned(source: str, read_to: str, latest: str) -> Iterator[Lag]:
    """The lag of each partition after a batch, from two offsets as Spark writes them; nothing of a source that is no topic.

    Parameters
    ----------
    read_to, latest
        Where the batch ended; where the topic ended when Spark planned it. So no broker is asked.
    """
    ends = positions_in(latest) or {}
    for topic, positions in sorted((positions_in(read_to) or {}).items()):
        for number, position in sorted(positions.items()):
            if (end := ends.get(topic, {}).get(number)) is not None:
                yield Lag(source, topic, number, position, end, max(0, end - position))


def _positions(manifest: "Manifest") -> Iterator[tuple[str, int, int]]:
    for offsets in manifest.fingerprint.offsets:
        for topic, ends in ((positions_in(offsets) if offsets != "-" else None) or {}).items():
            yield from ((topic, number, position) for number, position in ends.items())
