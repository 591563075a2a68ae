"""A job that reads a topic and writes to topics, on a broker of its own."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from soak.kinds import HEADER, SOURCE, Kind, newest, settings_of, trades
from streamproof.lab import KafkaCluster

SUMS = """
    sums = events.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("notional"))
    return sp.Outputs(rows=sums, late=sums.late)
"""
PLACE = """connector = "kafka"
servers = "${env:KAFKA}"
"""
TOPICS = f"""{PLACE}topic = "events"
[sink.rows]
{PLACE}topic = "rows"
format = "json"
[sink.late]
{PLACE}topic = "late"
format = "json"
"""


class OfTopics(Kind):
    """Its input is records of a topic; the broker lies beside the folder of the job."""

    @contextmanager
    def around(self, folder: Path) -> Iterator[Mapping[str, str]]:
        broker = folder.with_name(f"{folder.name}-broker")
        shutil.rmtree(broker, ignore_errors=True)
        with KafkaCluster(broker) as kafka:
            admin = AdminClient({"bootstrap.servers": kafka.url})
            for made in admin.create_topics([NewTopic(name, num_partitions=2) for name in ("events", "rows", "late")]).values():
                made.result(60)
            yield {"KAFKA": kafka.url}

    def feed(self, folder: Path, batch: int, given: Mapping[str, str]) -> None:
        producer = Producer({"bootstrap.servers": given["KAFKA"]})
        for row in trades(batch):
            producer.produce("events", json.dumps(row), key=row["client"])
        producer.flush(60)

    def read(self, folder: Path) -> int:
        """By the newest of Spark's log of offsets, whose last line has those of each partition."""
        log = folder / self.query / "offsets"
        last = newest(log)
        if last < 0:
            return 0
        partitions = json.loads((log / str(last)).read_text().splitlines()[-1])["events"]
        return sum(partitions.values()) // len(trades(0))


def write(folder: Path, settings: Mapping[str, str]) -> None:
    """Makes the job in a folder."""
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "job.py").write_text(f"{HEADER}{SUMS}")
    (folder / "streamproof.toml").write_text(SOURCE + TOPICS + settings_of(settings))
