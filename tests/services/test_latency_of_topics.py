"""From when a broker took a record to when readers get its row: as a run says it, and as a consumer of the sink's topic measures it."""

import json
import threading
import time
from collections.abc import Callable

import confluent_kafka
import pytest

from services.topics import made, received, sent
from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.core.ids import new_id
from streamproof.lab import KafkaCluster
from streamproof.runtime.watching.events import BatchCommitted, RunEvent
from streamproof.runtime.watching.latency import Since

pytestmark = pytest.mark.service
RECORDS = 300


class Reader(threading.Thread):
    """Reads a topic as anybody would, committed records only, and writes down when each came, in seconds since 1970."""

    def __init__(self, servers: str, topic: str) -> None:
        super().__init__(daemon=True)
        self.came: dict[str, float] = {}
        self._servers, self._topic, self._over = servers, topic, threading.Event()

    def run(self) -> None:
        own = {"group.id": new_id(), "isolation.level": "read_committed", "auto.offset.reset": "earliest", "fetch.wait.max.ms": 5}
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self._servers, **own})
        partitions = consumer.list_topics(self._topic, 20).topics[self._topic].partitions
        consumer.assign([confluent_kafka.TopicPartition(self._topic, number, 0) for number in partitions])
        while not self._over.is_set():
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                self.came[json.loads(message.value())["id"]] = time.time()
        consumer.close()

    def wait_for(self, records: int, seconds: float) -> None:
        until = time.monotonic() + seconds
        while len(self.came) < records and time.monotonic() < until:
            time.sleep(0.02)
        self._over.set()
        self.join()


def test_since_append_is_what_a_consumer_of_the_sink_measures(kafka: KafkaCluster, small_job: Callable[..., SmallJob]) -> None:
    source, sink = made(kafka.url), made(kafka.url)
    tables = {
        "source.events": {"connector": "kafka", "servers": kafka.url, "topic": source},
        "sink.kept": {"connector": "kafka", "servers": kafka.url, "topic": sink, "format": "json"},
    }
    job = small_job(KEPT, Binding(sinks={"rejected": "json"}, tables=tables))
    for part in range(3):
        sent(kafka.url, source, [event(f"e{part}-{number}", number) for number in range(RECORDS // 3)], partition=part % 2)
        time.sleep(1)
    took = {json.loads(message.value())["id"]: message.timestamp()[1] / 1_000 for message in received(kafka.url, source)}
    heard: list[RunEvent] = []
    reader = Reader(kafka.url, sink)
    reader.start()

    job.run(listener=heard.append, latency=True)
    reader.wait_for(RECORDS, 20)

    (batch,) = [each for each in heard if isinstance(each, BatchCommitted) and each.counts["input"]]
    said = {one.since: one for one in batch.latency}
    waited = sorted((reader.came[name] - taken) * 1_000 for name, taken in took.items())
    append = said[Since.APPEND]
    assert (append.source, append.records) == ("events", RECORDS)
    for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99)):
        measured = waited[int(share * RECORDS) - 1]
        assert getattr(append, name) == pytest.approx(measured, rel=0.05, abs=10), f"{name} of {append}, measured {measured:.0f} ms"
    assert said[Since.EVENT].p50_ms > append.p50_ms, "events of a past day"
