"""What a start asks of the ledgers of services after 1,000, 10,000 and 100,000 batches: whose the output is, and its newest batch.

The ledgers are filled as publications would leave them: PostgreSQL and Redis hold the newest `ledgers.KEPT` entries, the topic of Kafka each entry
and each tombstone that its broker has not compacted yet.
"""

import json
import statistics
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import psycopg
import redis
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from streamproof.config import KafkaSink, PostgresSink, RedisSink
from streamproof.connectors import ledgers
from streamproof.connectors.kafka.client import records
from streamproof.connectors.kafka.ledger import key_of
from streamproof.connectors.kafka.sink import TopicSink
from streamproof.connectors.kafka.transactions import fenced
from streamproof.connectors.postgres.sink import TableSink
from streamproof.connectors.redis.sink import LEDGER, HashSink
from streamproof.connectors.sink import Sink, SinkPlace
from streamproof.core.clock import monotonic_seconds
from streamproof.core.ids import new_id, short
from streamproof.core.manifest import LedgerEntry
from streamproof.lab import KafkaCluster, Postgres, Redis

AGES = (1_000, 10_000, 100_000)
STARTS = 5
ENTRY = LedgerEntry("job", "kept", new_id(), 0, 0, new_id(), "f" * 64, 1_000, 2**63, 1)
_COMPACTED_WITHIN = 120
"""Seconds that the broker has to compact what is written here in seconds, and by a job in hours."""
_TOGETHER = 500
"""So many publications of the topic's ledger are written in one transaction here; in a job each has its own."""


def place(where: str) -> SinkPlace:
    return SinkPlace(cast("Any", None), cast("Any", None), ENTRY.output, "", "parquet", "", where, ENTRY.job, ENTRY.incarnation)


def table(server: Postgres, batches: int) -> Callable[[], Sink]:
    config = PostgresSink(connector="postgres", url=server.url, table="kept")

    def sink() -> Sink:
        return TableSink(place("table"), config)

    sink().owner()  # makes the ledger
    with psycopg.connect(server.url) as connection:
        connection.execute("DELETE FROM streamproof_ledger")
        connection.execute(
            "INSERT INTO streamproof_ledger SELECT %s, %s, %s, n, 0, 'kept', %s, %s, 1000, 1, 1 FROM generate_series(%s::int, %s::int) n",
            (ENTRY.job, ENTRY.output, ENTRY.incarnation, ENTRY.manifest, ENTRY.fingerprint, batches - ledgers.KEPT, batches - 1),
        )
    return sink


def hashes(server: Redis, batches: int) -> Callable[[], Sink]:
    config = RedisSink(connector="redis", url=server.url, key=["id"], prefix="kept:")
    with redis.Redis.from_url(server.url) as connection:
        connection.delete(f"{LEDGER}kept:")
        for batch in range(batches - ledgers.KEPT, batches):
            entry = replace(ENTRY, batch=batch)
            field = json.dumps([entry.job, entry.output, entry.incarnation, batch])
            connection.hset(f"{LEDGER}kept:", field, entry.to_json())
    return lambda: HashSink(place("hashes"), config)


def topic(cluster: KafkaCluster, batches: int) -> Callable[[], Sink]:
    name = f"t-{short(new_id())}"
    admin = AdminClient({"bootstrap.servers": cluster.url})  # its answers end with it
    admin.create_topics([NewTopic(name, 1, -1)])[name].result(20)
    config = KafkaSink(connector="kafka", servers=cluster.url, topic=name)
    sink = TopicSink(place("topic"), config)
    sink.owner()  # makes the ledger
    producer = fenced(ENTRY, sink._ledger)
    for begin in range(0, batches, _TOGETHER):
        producer.begin_transaction()
        for batch in range(begin, begin + _TOGETHER):
            entry = replace(ENTRY, batch=batch)
            producer.produce(sink._ledger.name, entry.to_json(), key_of(entry), partition=0)
            if batch >= ledgers.KEPT:
                old = replace(ENTRY, batch=batch - ledgers.KEPT)
                producer.produce(sink._ledger.name, None, key_of(old), partition=0)
        producer.commit_transaction(60)
    end = monotonic_seconds() + _COMPACTED_WITHIN
    while batches > ledgers.KEPT and monotonic_seconds() < end and size(sink) > 10 * ledgers.KEPT:
        threading.Event().wait(1)
    print(f"{'':10} {size(sink):,} records are in the topic's ledger", flush=True)
    return lambda: TopicSink(place("topic"), config)


def size(sink: TopicSink) -> int:
    """How many records the ledger of a topic holds, tombstones too."""
    ledger = sink._ledger
    return sum(1 for _ in records(ledger.servers, ledger.options, ledger.name, [0]))


def asked(sink: Callable[[], Sink], batches: int) -> float:
    started = monotonic_seconds()
    owner = sink().owner()
    assert owner is not None
    assert owner.batch == batches - 1
    return monotonic_seconds() - started


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="streamproof-benchmark-") as name:
        folder = Path(name)
        with (
            Postgres(folder / "postgres") as database,
            Redis(folder / "redis") as server,
            KafkaCluster(folder / "kafka") as cluster,
        ):
            for batches in AGES:
                for what, sink in (
                    ("postgres", table(database, batches)),
                    ("redis", hashes(server, batches)),
                    ("kafka", topic(cluster, batches)),
                ):
                    took = sorted(asked(sink, batches) for _ in range(STARTS))
                    print(
                        f"{what:10} {statistics.median(took) * 1000:8.1f} ms   after {batches:,} batches; {took[0] * 1000:.1f} to {took[-1] * 1000:.1f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
