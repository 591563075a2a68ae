"""How far a job has read its topics, and how much is left, as the brokers say (S3)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.checkpoint.logs import positions_in
from streamproof.connectors.kafka.reading import TIMEOUTS
from streamproof.connectors.lag import PartitionLag
from streamproof.core.notes import Note, NoteCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.config import KafkaSource


def lag_of(spark: "SparkSession", name: str, source: "KafkaSource", read_to: Iterable[str]) -> Sequence[PartitionLag] | Note:
    """The lag of each partition of a source's topics; a note where no broker answers."""
    read: dict[tuple[str, int], int] = {}
    for topic, number, position in _positions(read_to):
        read[topic, number] = min(position, read.get((topic, number), position))
    settings = {**TIMEOUTS, **source.options, "bootstrap.servers": source.servers}
    asked = _jvm.kafka_offsets(spark, settings, source.topic)
    if isinstance(asked, str):
        said = f"How far [source.{name}] is behind could not be asked of {source.servers}: {_jvm.plain(asked)}"
        return Note(NoteCode.LAG_UNKNOWN, said)
    found: list[PartitionLag] = []
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


def _positions(read_to: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    for offsets in read_to:
        for topic, ends in (positions_in(offsets) or {}).items():
            yield from ((topic, number, position) for number, position in ends.items())
