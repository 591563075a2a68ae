"""One shard of a batch in one transaction, in a task: fence, look up, publish (R6)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Producer

from streamproof.connectors.answers import answer
from streamproof.connectors.kafka.client import FENCED, OVERTAKEN, SECONDS, TOO_LONG, Said, settings
from streamproof.connectors.kafka.ledger import Ledger, Reading, key_of
from streamproof.connectors.ledgers import behind
from streamproof.connectors.steps import Steps
from streamproof.core.clock import monotonic_seconds
from streamproof.core.manifest import LedgerEntry

RESULT = "entry string, rows bigint, code int, message string, read array<string>, position bigint"
_FIELDS: list[Any] = [
    ("entry", pa.string()),
    ("rows", pa.int64()),
    ("code", pa.int32()),
    ("message", pa.string()),
    ("read", pa.list_(pa.string())),
    ("position", pa.int64()),
]
_COMMIT_SECONDS = 60
_TIMEOUT_MS = 5 * _COMMIT_SECONDS * 1000
_PRODUCER = {
    "enable.idempotence": True,
    "partitioner": "murmur2_random",  # the same partition for a key as Kafka's own clients
    "linger.ms": 20,
    "batch.size": 1_000_000,
    "queue.buffering.max.messages": 1_000_000,
    "compression.type": "lz4",
    "delivery.report.only.error": True,
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
    since
        The position in the ledger up to which the driver has read it, and found no entry of this shard.
    expected
        The key of an entry after that position that the driver has written, if any: it must be there still.
    outdated
        Keys of entries that are dropped in the same transaction.
    """

    ledger: Ledger
    entry: LedgerEntry
    of: int
    rows: int
    headers: tuple[str, ...]
    steps: Steps
    since: int = 0
    expected: str | None = None
    outdated: Sequence[str] = ()

    def publish(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Publishes; gives the entry that the shard has in the ledger, or what Kafka said.

        The columns are `key` and `value` (binary), then one binary column for each header.
        """
        row: dict[str, Any] = {name: None for name, _ in _FIELDS}
        try:
            refused: list[KafkaError] = []
            producer = fenced(self.entry, self.ledger, refused)
            reading = self.ledger.read([self.entry.shard], {self.entry.shard: self.since})
            self._require_newest(reading)
            if self.expected is not None and self.expected not in map(key_of, reading.entries):
                raise KafkaException(KafkaError(KafkaError.OFFSET_OUT_OF_RANGE, f"the entry {self.expected}"))
            row["read"], row["position"] = [known.to_json() for known in reading.entries], reading.ends[self.entry.shard]
            entry, row["rows"] = self._published(producer, reading, batches, refused)
            row["entry"] = entry.to_json() if entry is not None else None
        except KafkaException as problem:
            row["code"], row["message"] = (said := Said.by(problem)).code, said.message
        yield answer([row], _FIELDS)

    def _published(
        self, producer: Producer, reading: Reading, batches: Iterator[pa.RecordBatch], refused: list[KafkaError]
    ) -> tuple[LedgerEntry | None, int]:
        for known in reading.entries:
            if key_of(known) == key_of(self.entry):
                return known, 0
        producer.begin_transaction()
        began = monotonic_seconds()
        try:
            return self._committed(producer, batches, refused)
        except KafkaException as problem:
            raise behind_age(problem, monotonic_seconds() - began, timeout_seconds(self.ledger)) from None

    def _require_newest(self, reading: Reading) -> None:
        """KafkaException (`OVERTAKEN`) if a later batch is published and this one has no entry: it was published too, and is no longer kept."""
        there = {known.batch for known in reading.entries if self._is_mine(known)}
        newest = max(there, default=-1)
        if newest > self.entry.batch and self.entry.batch not in there:
            raise KafkaException(KafkaError(OVERTAKEN, behind(self.entry.batch, newest)))

    def _is_mine(self, entry: LedgerEntry) -> bool:
        of = (entry.job, entry.output, entry.incarnation, entry.shard)
        return of == (self.entry.job, self.entry.output, self.entry.incarnation, self.entry.shard)

    def _committed(
        self, producer: Producer, batches: Iterator[pa.RecordBatch], refused: list[KafkaError]
    ) -> tuple[LedgerEntry | None, int]:
        """Writes the rows and the entry in the transaction that has begun."""
        entry, number = self.entry, self.entry.shard
        try:
            rows = self._produce(producer, batches)
        except KafkaException as problem:
            raise _first_of(refused, producer, problem) from None
        if rows != self.rows:
            producer.abort_transaction(SECONDS)
            return None, rows
        self._record(producer, key_of(entry), entry.to_json())
        for key in self.outdated:
            self._record(producer, key, None)
        kind = entry.output if self.of == 1 else f"{entry.output}.{number}"
        self.steps.before(kind, entry.batch)
        producer.commit_transaction(_COMMIT_SECONDS)
        self.steps.after(kind, entry.batch)
        return entry, rows

    def _record(self, producer: Producer, key: str, value: str | None) -> None:
        """Writes a record of the ledger."""
        while True:
            try:
                producer.produce(self.ledger.name, value, key, partition=self.entry.shard)
                return
            except BufferError:
                producer.poll(0.05)
            except KafkaException as problem:
                if problem.args[0].code() != KafkaError._STATE:
                    raise
                return  # a row was refused meanwhile: the commit fails, and says why

    def _produce(self, producer: Producer, batches: Iterator[pa.RecordBatch]) -> int:
        rows = 0
        for batch in batches:
            columns = [column.to_pylist() for column in batch.columns]
            self._with_headers(producer, columns) if self.headers else self._at_once(producer, columns)
            rows += batch.num_rows
            producer.poll(0)
        return rows

    def _at_once(self, producer: Producer, columns: list[list[Any]]) -> None:
        """Many records in one call; librdkafka takes no headers that way."""
        keys, values = columns
        left = [{"key": key, "value": value} for key, value in zip(keys, values, strict=True)]
        while left:
            taken = producer.produce_batch(self.ledger.topic, left)
            refused = next(
                (record["_error"] for record in left if "_error" in record and record["_error"].code() != KafkaError._QUEUE_FULL),
                None,
            )
            if refused is not None:
                raise KafkaException(refused)
            if taken == len(left):
                return
            left = [record for record in left if record.pop("_error", None) is not None]
            producer.poll(0.05)

    def _with_headers(self, producer: Producer, columns: list[list[Any]]) -> None:
        in_proof = any(name.startswith("streamproof_") for name in self.headers)
        own = [("streamproof_batch", str(self.entry.batch).encode())] if in_proof else []
        for key, value, *values in zip(*columns, strict=True):
            headers = [*own, *((name, each) for name, each in zip(self.headers, values, strict=True) if each is not None)]
            while True:
                try:
                    producer.produce(self.ledger.topic, value, key, headers=headers)
                    break
                except BufferError:
                    producer.poll(0.05)


def timeout_seconds(ledger: Ledger) -> float:
    """How long a transaction may stay open before the brokers abort it."""
    return float(ledger.options.get("transaction.timeout.ms", _TIMEOUT_MS)) / 1000


def behind_age(problem: KafkaException, seconds: float, timeout: float) -> KafkaException:
    """What broke a transaction that was open for so many seconds: one that brokers abort for its age they call fenced."""
    if problem.args[0].code() not in FENCED or seconds < timeout:
        return problem
    return KafkaException(KafkaError(TOO_LONG, f"the transaction was open for {seconds:.0f} s, and {timeout:.0f} s are allowed"))


def _first_of(refused: list[KafkaError], producer: Producer, problem: KafkaException) -> KafkaException:
    """What broke a transaction: of the rows after the one that the broker refused librdkafka says "erroneous state" only."""
    if problem.args[0].code() != KafkaError._STATE:
        return problem
    producer.flush(SECONDS)
    first = next((error for error in refused if error.code() not in (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)), None)
    return problem if first is None else KafkaException(first)


def fenced(entry: LedgerEntry, ledger: Ledger, refused: list[KafkaError] | None = None) -> Producer:
    """A producer under the transactional id of a shard: whoever had it before cannot commit any more, what it left open is aborted.

    `refused` is told why a broker does not take a row.
    """
    heard = [] if refused is None else refused
    producer = Producer(
        {
            **_PRODUCER,
            "on_delivery": lambda error, _: heard.append(error) if error else None,
            "transaction.timeout.ms": _TIMEOUT_MS,
            **settings(ledger.servers, ledger.options),
            "transactional.id": transactional_id(entry, ledger.topic),
        }
    )
    # Without a connection librdkafka asks for the coordinator half a second later.
    producer.list_topics(ledger.topic, SECONDS)
    producer.init_transactions(SECONDS)
    return producer


def transactional_id(entry: LedgerEntry, topic: str) -> str:
    """One for each shard of an output: a second publisher under it fences the first."""
    return json.dumps(["streamproof", entry.job, entry.output, entry.incarnation, topic, entry.shard])
