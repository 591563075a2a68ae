"""A topic of Avro through the layer and a registry, against the same rows as JSON by the bare connector and `from_json`: time per event.

Medians of the ratios of pairs in one run, both into Spark's noop sink; the sizes of both topics' values are stated beside them.
"""

import io
import json
import statistics
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import fastavro
from confluent_kafka import Producer
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.services import PAIRS, SCHEMA, Bench
from streamproof import _jvm
from streamproof.config import KafkaSource, RegistryConfig
from streamproof.connectors.event_time import accepted
from streamproof.connectors.kafka.reading import read
from streamproof.connectors.registry.client import RegisteredSchema, Registry
from streamproof.core.ids import new_id, short
from streamproof.lab import KafkaCluster, Postgres
from streamproof.lab.registry import Registry as RegistryService
from streamproof.runtime.rows.doors import SideDoors

EVENTS = 1_000_000
TYPES = {"id": "long", "client": "string", "amount": "double", "text": "string"}


def row(number: int) -> dict[str, object]:
    return {"id": number, "client": f"c{number % 1000}", "amount": number / 7, "text": "x" * 40}


def filled(bench: Bench, value: Callable[[int], bytes]) -> tuple[str, int]:
    """A topic with all events, and how many bytes their values have."""
    topic, size = bench.topic(), 0
    producer = Producer({"bootstrap.servers": bench.kafka.url, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for number in range(EVENTS):
        written = value(number)
        size += len(written)
        while True:
            try:
                producer.produce(topic, written, partition=number % 2)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(60)
    return topic, size


def drained(bench: Bench, rows: DataFrame) -> float:
    checkpoint = bench.folder / f"checkpoint-{short(new_id())}"
    query = rows.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()
    return sum(progress.durationMs["triggerExecution"] for progress in query.recentProgress) / 1000


def compare(bench: Bench, url: str) -> None:
    schema = {"type": "record", "name": "Row", "fields": [{"name": name, "type": kind} for name, kind in TYPES.items()]}
    parsed, config = fastavro.parse_schema(schema), RegistryConfig(url=url)
    schema_id = Registry.of(config).register("rows-value", RegisteredSchema("AVRO", json.dumps(schema)))

    def avro(number: int) -> bytes:
        written = io.BytesIO(struct.pack(">bI", 0, schema_id))
        written.seek(5)
        fastavro.schemaless_writer(written, parsed, row(number))
        return written.getvalue()

    topic, size = filled(bench, avro)
    text_topic, text_size = filled(bench, lambda number: json.dumps(row(number)).encode())
    bound = KafkaSource(connector="kafka", servers=bench.kafka.url, topic=topic, format="avro", schema=SCHEMA, registry=config)

    def ours() -> float:
        session = bench.spark.newSession()
        doors = SideDoors(_jvm.Doors(session, str(bench.folder / "doors"), short(new_id())), {})
        return drained(bench, accepted(read(session, "rows", bound, stream=True, trace=False), "rows", bound, doors))

    def theirs() -> float:
        options = {"kafka.bootstrap.servers": bench.kafka.url, "subscribe": text_topic, "startingOffsets": "earliest"}
        rows = bench.spark.readStream.format("kafka").options(**options).load()
        return drained(bench, rows.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("r")).select("r.*"))

    ours(), theirs()
    pairs = [(ours(), theirs()) if number % 2 else tuple(reversed((theirs(), ours()))) for number in range(PAIRS)]
    ratios = sorted(mine / others for mine, others in pairs)
    mine, others = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(
        f"avro       {statistics.median(ratios):.3f}   time per event, {EVENTS:,} records of {size / EVENTS:.0f} bytes by a registry against "
        f"{text_size / EVENTS:.0f} bytes of JSON by from_json: {mine:.2f} against {others:.2f} s; ratios {ratios[0]:.2f} to {ratios[-1]:.2f}"
    )


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="streamproof-benchmark-") as name:
        folder = Path(name)
        services = Postgres(folder / "postgres"), KafkaCluster(folder / "kafka"), RegistryService(folder / "registry")
        with services[0] as database, services[1] as cluster, services[2] as registry:
            compare(Bench(folder, database, cluster), registry.url)


if __name__ == "__main__":
    main()
