"""Topics of Kafka in a proof: one for each source, written once; one for each output of each scenario."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from streamproof.config import KafkaSink, ServiceSink
from streamproof.connectors.kafka.client import SECONDS, records, settings
from streamproof.connectors.kafka.ledger import Ledger
from streamproof.connectors.registry.client import Registry
from streamproof.core.manifest import LedgerEntry
from streamproof.prove.generate import Event
from streamproof.prove.outside.encoded import Decoding
from streamproof.prove.outside.services import Published, Reader

PARTITIONS = 2
_HEADER = "streamproof"


def write_events(events: Iterable[Event], servers: str, topic: str) -> dict[str, list[str]]:
    """Writes the records of the events to a new topic, each to its partition, and says which trace each record holds: "trades-0@17"."""
    admin = AdminClient(settings(servers, {}))
    admin.create_topics([NewTopic(topic, PARTITIONS, -1)])[topic].result(SECONDS)
    producer = Producer({**settings(servers, {}), "enable.idempotence": True, "linger.ms": 20})
    traces: dict[str, list[str]] = {}
    ends = dict.fromkeys(range(PARTITIONS), 0)
    for event in events:
        partition = event.partition % PARTITIONS
        producer.produce(topic, event.record, partition=partition)
        producer.poll(0)
        traces[record_name(topic, partition, ends[partition])] = [event.trace]
        ends[partition] += 1
    left = producer.flush(SECONDS)
    if left:
        raise KafkaException(f"{left} events were not written to {topic}")
    return traces


def remove(servers: str, topics: Iterable[str]) -> None:
    """Deletes topics, those that are there."""
    admin = AdminClient(settings(servers, {}))  # its answers end with it
    for done in admin.delete_topics(list(topics)).values():
        done.exception(SECONDS)


def record_name(topic: str, partition: int, offset: int) -> str:
    """What a record is called, as a file is by its name."""
    return f"{topic}-{partition}@{offset}"


class Topics(Reader):
    """Reads what a scenario has left in its topics, as a reader with read_committed sees it."""

    def open(self, sink: ServiceSink) -> None:
        assert isinstance(sink, KafkaSink), "the reader of topics is asked about topics"
        admin = AdminClient(settings(sink.servers, {}))
        admin.create_topics([NewTopic(sink.topic, PARTITIONS, -1)])[sink.topic].result(SECONDS)

    def rows(self, sink: ServiceSink, types: Mapping[str, str]) -> Iterator[Published]:
        assert isinstance(sink, KafkaSink), "the reader of topics is asked about topics"
        row = json.loads if sink.registry is None else Decoding(Registry.of(sink.registry)).row
        for message in records(sink.servers, {}, sink.topic, range(PARTITIONS)):
            headers = _headers(message)
            batch = headers.pop("_batch", None)
            hidden = {name: _value(name, value) for name, value in headers.items()}
            written = message.value()
            yield Published(None if batch is None else int(batch), {**(row(written) if written else {}), **hidden})

    def ledger(self, sink: ServiceSink, home: Path) -> Sequence[LedgerEntry]:
        assert isinstance(sink, KafkaSink), "the reader of topics is asked about topics"
        ledger = Ledger(sink.servers, sink.topic, {})
        if sink.guarantee == "at-least-once" or sink.shards > 1:
            return []
        ledger.require(1)
        return ledger.read(None, {}).entries

    def close(self, sink: ServiceSink) -> None:
        assert isinstance(sink, KafkaSink), "the reader of topics is asked about topics"
        remove(sink.servers, [sink.topic, Ledger(sink.servers, sink.topic, {}).name])


def _headers(message: Message) -> dict[str, bytes]:
    """The headers of ours, by the names of the hidden columns."""
    written: Any = message.headers() or []
    return {name.removeprefix(_HEADER): value for name, value in written if name.startswith(_HEADER)}


def _value(name: str, value: bytes) -> object:
    return value.decode() if name == "_trace" else int(value)
