"""Topics of Kafka, as whoever reads them asks (see `connectors.source`)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from streamproof.checkpoint.logs import is_initial_positions, parse_initial_positions, positions_in
from streamproof.connectors import carried
from streamproof.connectors.extras import library
from streamproof.connectors.kafka.jars import SPARK_KAFKA
from streamproof.connectors.lag import Lag
from streamproof.connectors.source import Holding, Jars, Looked, Obstacle, Past, Source
from streamproof.errors import WrongCheckpoint

if TYPE_CHECKING:
    from typing import Self

    from pyspark.sql import DataFrame, SparkSession

    from streamproof.config import JobConfig, KafkaSource
    from streamproof.connectors.lag import PartitionLag
    from streamproof.core.manifest import Fingerprint
    from streamproof.core.notes import Note


@dataclass(frozen=True)
class TopicSource(Source):
    """Topics, read by Spark's own connector."""

    config: "KafkaSource"

    jars: ClassVar[Sequence[Jars]] = (SPARK_KAFKA,)
    counts: ClassVar[str] = "records"
    first: ClassVar[int] = 10_000

    @property
    def most(self) -> int | None:
        return self.config.records_per_batch

    def taken(self, number: int, batch: "Fingerprint") -> int:
        """By the offsets: the marks of transactions have some too, and the connector's own limit counts them as well."""
        start = batch.starts.get(str(number), "")
        begins = parse_initial_positions(start) if is_initial_positions(start) else positions_in(start) if start else None
        end, taken = batch.offsets[number], 0
        for topic, ends in ((positions_in(end) if end != "-" else None) or {}).items():
            before = (begins or {}).get(topic, {})
            taken += sum(max(0, position - before.get(partition, 0)) for partition, position in ends.items())
        return taken

    def read(self, spark: "SparkSession", *, stream: bool, trace: bool, intake: str = "", timed: bool = False) -> "DataFrame":
        from streamproof.connectors.kafka.reading import read

        return read(spark, self.name, self.config, stream=stream, trace=trace, intake=intake, timed=timed)

    def look(self, job: "JobConfig") -> Looked:
        return Looked.not_from_here(f"{', '.join(self.config.topic)} at {self.config.servers}{self.config.by_registry}")

    @property
    def added_columns(self) -> Sequence[str]:
        from streamproof.connectors.kafka.reading import PREFIX

        return (*(f"{PREFIX}{name}" for name in self.config.include), *map(carried.column_of, self.config.carry))

    @classmethod
    def require_same(
        cls, sources: "Mapping[int, Self]", past: Past, spark: "SparkSession", accepted: Collection[str]
    ) -> Mapping[str, str]:
        from streamproof.connectors.kafka.reading import require

        _require_no_fewer(past, [topic for source in sources.values() for topic in source.config.topic])
        ids: dict[str, str] = {}
        for source in sources.values():
            ids |= require(spark, source.name, source.config)
        require_same_topics(past, ids, accepted)
        return ids

    def holding(self) -> Sequence[Holding]:
        library("confluent_kafka", "kafka", f"Asking what [source.{self.name}] holds")
        from streamproof.connectors.kafka.holding import holding_of

        return holding_of(self.name, self.config)

    def lag(self, spark: "SparkSession", read_to: Iterable[str]) -> "Sequence[PartitionLag] | Note":
        from streamproof.connectors.kafka.lag import lag_of

        return lag_of(spark, self.name, self.config, read_to)

    def lag_when_planned(self, read_to: str, latest: str) -> Iterator[Lag]:
        ends = positions_in(latest) or {}
        for topic, positions in sorted((positions_in(read_to) or {}).items()):
            for number, position in sorted(positions.items()):
                if (end := ends.get(topic, {}).get(number)) is not None:
                    yield Lag(self.name, topic, number, position, end, max(0, end - position))

    @property
    def not_in_real_time(self) -> Obstacle | None:
        if self.config.records_per_batch is None:
            return None
        return Obstacle(
            f"[source.{self.name}] has records_per_batch",
            "A batch of this trigger has a length in time, and takes whatever comes.",
            "Take records_per_batch out.",
        )

    def partitions(self, spark: "SparkSession") -> int:
        from streamproof.connectors.kafka.reading import partitions

        return partitions(spark, self.name, self.config)


def _require_no_fewer(past: Past, topics: Sequence[str]) -> None:
    """WrongCheckpoint if a topic that was read is bound no more: Spark would call its records lost, or read another from its start."""
    newest = next(past.newest_first(), None)
    for offsets in newest.fingerprint.offsets if newest is not None else ():
        read = positions_in(offsets) if offsets != "-" else {}
        gone = [topic for topic in read or {} if topic not in topics]
        if gone:
            raise WrongCheckpoint(
                f"The checkpoint {past.checkpoint} has read the topic {gone[0]}; the source is bound to {', '.join(topics)} now.",
                required="A topic may be added, and none taken away: what of it was not read yet would be lost unseen.",
                remedy="Bind the source to all the topics it had. Another source starts with a checkpoint and outputs of its own.",
            )


def require_same_topics(past: Past, ids: Mapping[str, str], accepted: Collection[str] = ()) -> None:
    """WrongCheckpoint if another topic stands under the name of one that was read: what lies before the offset that was reached in the old one
    would never be read.

    Parameters
    ----------
    ids
        The ids of the topics that the sources are bound to, by their names; "" where the brokers are too old to have them.
    accepted
        Topics that stand in for those that were read: their records have the same offsets.
    """
    newest = next(past.newest_first(), None)
    read = newest.topics if newest is not None else {}
    others = [
        topic for topic, before in read.items() if before and ids.get(topic, "") not in ("", before) and topic not in accepted
    ]
    if others:
        told = ", ".join(f"{topic} (its id was {read[topic]}, and is {ids[topic]})" for topic in others)
        raise WrongCheckpoint(
            f"What stands under the name of a topic that the checkpoint {past.checkpoint} has read is another one: {told}. It was deleted "
            "and made again, or lies in another cluster.",
            required="Offsets go on only in the topic they were reached in: of another, what lies before them would never be read.",
            remedy="Start over with a new checkpoint and new outputs. If each record has the offset here that it had there, as in a topic "
            f"that was linked or restored, until a batch was done: run {' '.join(f'--accept-topic {topic}' for topic in others)}",
        )
