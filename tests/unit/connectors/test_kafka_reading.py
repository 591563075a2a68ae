"""A ledger is read to the end that the leader of its partition tells. The consumer is a fake: no broker here gives a stale end when asked to."""

from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from streamproof.connectors.kafka import client

PARTITION = 0


@dataclass
class Polled:
    """A record, or the end of what has been fetched."""

    at: int
    end: bool = False

    def error(self) -> KafkaError | None:
        return KafkaError(KafkaError._PARTITION_EOF) if self.end else None

    def partition(self) -> int:
        return PARTITION

    def offset(self) -> int:
        return self.at


class FakeConsumer:
    told = 5
    polled: tuple[Polled, ...] = ()

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings, self.left = settings, list(self.polled)

    def get_watermark_offsets(self, partition: TopicPartition, timeout: float, *, cached: bool) -> tuple[int, int]:
        assert not cached
        return 0, self.told

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.assigned = partitions

    def poll(self, timeout: float) -> Polled | None:
        return self.left.pop(0) if self.left else None

    def close(self) -> None:
        pass


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(client, "Consumer", FakeConsumer)

    def read(*polled: Polled, since: int = 0) -> tuple[list[int], dict[int, int]]:
        monkeypatch.setattr(FakeConsumer, "polled", polled)
        ends: dict[int, int] = {}
        found = client.records("h:1", {}, "ledger", [PARTITION], since={PARTITION: since}, ends=ends)
        return [message.offset() for message in found], ends  # type: ignore[misc]

    return read


def test_r6_an_end_before_the_one_that_the_leader_tells_is_read_past(read: Any) -> None:
    assert read(Polled(0), Polled(2, end=True), Polled(3), Polled(5, end=True)) == ([0, 3], {PARTITION: 5})


def test_r6_a_partition_that_never_comes_to_its_end_is_not_read(read: Any) -> None:
    with pytest.raises(KafkaException, match="not read to its end"):
        read(Polled(0), Polled(2, end=True))


def test_a_partition_that_ends_before_what_was_read_of_it_has_lost_entries(read: Any) -> None:
    with pytest.raises(KafkaException, match="ends at 5 and was read to 6 before"):
        read(since=6)


def test_nothing_is_fetched_where_nothing_is_new(read: Any) -> None:
    assert read(since=5) == ([], {PARTITION: 5})
