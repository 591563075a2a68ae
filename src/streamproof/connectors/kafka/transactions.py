"""One shard of a batch in one transaction, in a task: fence, look up, publish (R6)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaException, Producer

from streamproof.connectors.kafka.client import SECONDS, Said, settings
from streamproof.connectors.kafka.ledger import Ledger, key_of
from streamproof.connectors.steps import Steps
from streamproof.core.manifest import LedgerEntry

RESULT = "manifest string, rows bigint, code int, message string"
_FIELDS: list[Any] = [("manifest", pa.string()), ("rows", pa.int64()), ("code", pa.int32()), ("message", pa.string())]
_COMMIT_SECONDS = 60
_POLL_EVERY = 20_000
_PRODUCER = {
    "enable.idempotence": True,
    "partitioner": "murmur2_random",  # the same partition for a key as Kafka's own clients
    "linger.ms": 20,
    "batch.size": 1_000_000,
    "queue.buffering.max.messages": 1_000_000,
    "compression.type": "lz4",
}


@dataclass(frozen=True)
class Shard:
    """What a task needs to publish one shard of a batch.

    Parameters
    ----------
    entry
        Its ledger entry.
    of
        How many shards the batch has.
    rows
        How many rows the shard has.
    headers
        The names of the headers.
    """

    ledger: Ledger
    entry: LedgerEntry
    of: int
    rows: int
    headers: tuple[str, ...]
    steps: Steps

    def publish(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Publishes; gives the manifest that has published the shard, or what Kafka said.

        The columns are `key` and `value` (binary), then one binary column for each header.
        """
        try:
            manifest, rows, said = *self._published(batches), None
        except KafkaException as problem:
            manifest, rows, said = None, 0, Said.by(problem)
        code, message = (said.code, said.message) if said is not None else (None, None)
        yield pa.RecordBatch.from_pylist(
            [{"manifest": manifest, "rows": rows, "code": code, "message": message}], schema=pa.schema(_FIELDS)
        )

    def _published(self, batches: Iterator[pa.RecordBatch]) -> tuple[str | None, int]:
        entry, number = self.entry, self.entry.shard
        producer = Producer(
            {
                **_PRODUCER,
                "transaction.timeout.ms": 5 * _COMMIT_SECONDS * 1000,
                **settings(self.ledger.servers, self.ledger.options),
                "transactional.id": transactional_id(entry, self.ledger.topic),
            }
        )
        producer.list_topics(
            self.ledger.topic, SECONDS
        )  # without a connection librdkafka asks for the coordinator half a second later
        producer.init_transactions(SECONDS)
        for known in self.ledger.entries(range(number, number + 1)):
            if key_of(known) == key_of(entry):
                return known.manifest, 0
        producer.begin_transaction()
        rows = self._produce(producer, batches)
        if rows != self.rows:
            producer.abort_transaction(SECONDS)
            return None, rows
        producer.produce(self.ledger.name, entry.to_json(), key_of(entry), partition=number)
        kind = entry.output if self.of == 1 else f"{entry.output}.{number}"
        self.steps.before(kind, entry.batch)
        producer.commit_transaction(_COMMIT_SECONDS)
        self.steps.after(kind, entry.batch)
        return entry.manifest, rows

    def _produce(self, producer: Producer, batches: Iterator[pa.RecordBatch]) -> int:
        rows, topic = 0, self.ledger.topic
        batch_of = [("streamproof_batch", str(self.entry.batch).encode())] if self.headers else []
        for batch in batches:
            columns = [column.to_pylist() for column in batch.columns]
            for key, value, *values in zip(*columns, strict=True):
                headers = batch_of + [(name, each) for name, each in zip(self.headers, values, strict=True) if each is not None]
                while True:
                    try:
                        producer.produce(topic, value, key, headers=headers) if headers else producer.produce(topic, value, key)
                        break
                    except BufferError:
                        producer.poll(0.05)
                rows += 1
                if rows % _POLL_EVERY == 0:
                    producer.poll(0)
        return rows


def transactional_id(entry: LedgerEntry, topic: str) -> str:
    """One for each shard of an output: a second publisher under it fences the first."""
    return json.dumps(["streamproof", entry.job, entry.output, entry.incarnation, topic, entry.shard])
