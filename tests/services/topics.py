"""Topics of a real broker: made, written and read by tests."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic

from streamproof.core.ids import new_id, short
from streamproof.lab.process import until


def made(servers: str, partitions: int = 2, name: str | None = None, **settings: str) -> str:
    """A new topic, by its name."""
    name = name or f"events-{short(new_id())}"
    admin = AdminClient({"bootstrap.servers": servers})  # its answers end with it
    admin.create_topics([NewTopic(name, partitions, -1, config=settings)])[name].result(20)
    return name


@contextmanager
def made_late(servers: str, name: str | None = None, seconds: float = 0.3, **settings: str) -> Iterator[str]:
    """A topic that brokers know some time after the block was entered, by its name."""
    name = name or f"events-{short(new_id())}"
    making = Timer(seconds, made, (servers, 2, name), settings)
    making.start()
    try:
        yield name
    finally:
        making.join()


def ledger_of(topic: str) -> str:
    return f"{topic}-streamproof-ledger"


def deleted(servers: str, topic: str) -> None:
    """Deletes a topic, and comes back when no broker knows it."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.delete_topics([topic])[topic].result(20)
    until(lambda: topic not in admin.list_topics(timeout=10).topics, f"{topic} to be gone", 20)


def sent(servers: str, topic: str, values: Sequence[Mapping[str, Any] | bytes | None], partition: int = 0, **more: Any) -> None:
    """Writes records, JSON of mappings."""
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "enable.idempotence": True, "log_level": 0})
    for value in values:
        written = json.dumps(value).encode() if isinstance(value, Mapping) else value
        producer.produce(topic, written, partition=partition, **more)
    assert producer.flush(20) == 0


def received(servers: str, topic: str, *, isolation: str = "read_committed") -> list[confluent_kafka.Message]:
    """Every record of a topic, to its end."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": new_id(),
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 5,
        }
    )
    partitions = consumer.list_topics(topic, 20).topics[topic].partitions
    consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in partitions])
    found, open_ones = [], set(partitions)
    while open_ones:
        message = consumer.poll(20)
        assert message is not None, f"{topic} could not be read to its end"
        if message.error() is None:
            found.append(message)
        else:
            open_ones.discard(message.partition())
    consumer.close()
    return found
