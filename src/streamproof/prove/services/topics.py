"""Topics of Kafka in a proof: one for each source, written once; one for each output of each scenario."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from streamproof.config import KafkaSink, ServiceSink
from streamproof.connectors.kafka.client import SECONDS, records, settings
from streamproof.connectors.kafka.ledger import Ledger
from streamproof.connectors.registry.client import Registry
from streamproof.core.manifest import LedgerEntry
from streamproof.prove.scenario.generate import Event
from streamproof.prove.services.encoded import Decoding
from streamproof.prove.services.kind import Published, Reader

PARTITIONS = 2
_HEADER = "streamproof"


def write_events(events: Sequence[Event], servers: str, topic: str, aborted: Sequence[Event] = ()) -> dict[str, list[str]]:
    """Writes the records of the events to a new topic, each to its partition, and says which trace each record holds: "trades-0@17".

    In their midst stand `aborted` ones, in a transaction that came to nothing (R9): whoever reads them counts what nobody sent. They, and the
    markers of the transaction, hold no trace.
    """
    admin = AdminClient(settings(servers, {}))
    admin.create_topics([NewTopic(topic, PARTITIONS, -1)])[topic].result(SECONDS)
    middle = len(events) // 2
    traces: dict[str, list[str]] = {}
    _send(servers, topic, events[:middle], traces)
    if aborted:
        _abort(servers, topic, aborted)
    _send(servers, topic, events[middle:], traces)
    ends = Consumer({**settings(servers, {}), "group.id": f"{topic}-ends"})
    for partition in range(PARTITIONS):
        _, end = ends.get_watermark_offsets(TopicPartition(topic, partition), SECONDS)
        for offset in range(end):
            traces.setdefault(record_name(topic, partition, offset), [])
    ends.close()
    return traces


def _send(servers: str, topic: str, events: Sequence[Event], traces: dict[str, list[str]]) -> None:
    """Writes events, and notes the offset at which each has come to lie."""
    producer = Producer({**settings(servers, {}), "enable.idempotence": True, "linger.ms": 20})
    failed: list[str] = []

    def noted(trace: str) -> Callable[[KafkaError | None, Message], None]:
        def note(problem: KafkaError | None, message: Message) -> None:
            if problem is not None:
                failed.append(str(problem))
            else:
                traces[record_name(topic, int(message.partition() or 0), int(message.offset() or 0))] = [trace]

        return note

    for event in events:
        producer.produce(topic, event.record, partition=event.partition % PARTITIONS, on_delivery=noted(event.trace))
        producer.poll(0)
    left = producer.flush(SECONDS)
    if left or failed:
        raise KafkaException(f"{left + len(failed)} events were not written to {topic}: {', '.join(failed[:1])}")


def _abort(servers: str, topic: str, events: Sequence[Event]) -> None:
    """Writes events in a transaction, and aborts it."""
    producer = Producer({**settings(servers, {}), "transactional.id": f"{topic}-aborted"})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    for event in events:
        producer.produce(topic, event.record, partition=event.partition % PARTITIONS)
    producer.flush(SECONDS)
    producer.abort_transaction(SECONDS)


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
        make(sink.servers, [sink.topic])

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


def make(servers: str, topics: Sequence[str]) -> None:
    """Makes topics, each with some partitions."""
    admin = AdminClient(settings(servers, {}))
    for made in admin.create_topics([NewTopic(name, PARTITIONS, -1) for name in topics]).values():
        made.result(SECONDS)


def _headers(message: Message) -> dict[str, bytes]:
    """The headers of ours, by the names of the hidden columns."""
    written: Any = message.headers() or []
    return {name.removeprefix(_HEADER): value for name, value in written if name.startswith(_HEADER)}


def _value(name: str, value: bytes) -> object:
    return value.decode() if name == "_trace" else int(value)
