"""Sinks and sources of real services against hand-written PySpark, side by side: medians of the ratios of pairs in one run.

`postgres` and `upsert`: an exactly-once table against `df.write.jdbc` in a `foreachBatch` (at least once; for upserts into a table beside,
then INSERT ... ON CONFLICT), rows per second; bare COPY of the same rows by one connection is stated beside it. An upsert is held against the
limit of an insert and misses it: of our 3.7 to 4.1 s for 800,000 new keys PostgreSQL logged 2.0 to 2.7 s in INSERT ... ON CONFLICT, a statement
that both sides run. MERGE took less time for new keys and more for known ones. `batches`: a topic of JSON with four partitions into a table, in
batches of 10,000, 250,000 and 1,000,000 records; a small batch costs two jobs of Spark, one that stages and one that publishes. `kafka`: an exactly-once topic
against Spark's own sink (at least once), rows of 100 bytes, acks=all. `source`: a topic through the layer against the bare connector with
`from_json`, time per event, both into Spark's noop sink. `latency`: how long records of small batches wait for their transaction's end.
The first batch of each run is left out on both sides: Python workers, connections and generated code start in it, once a run; what ours takes
for it beyond the others is stated.
All services run on this machine, on its two cores too.
"""

import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.config import load
from streamproof.connectors.kafka.jars import SPARK_KAFKA
from streamproof.core.clock import monotonic_seconds, now_utc
from streamproof.core.ids import new_id, short
from streamproof.lab import KafkaCluster, Postgres
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.spark.connector_jars import jars_of
from streamproof.runtime.spark.session import STREAMING, start_session
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

PAIRS = 5
ROWS, BATCHES, FILES = 4_000_000, 5, 2
SMALL_ROWS, SMALL_BATCHES = 1_000, 20
MEASURED = ROWS * (BATCHES - 1) // BATCHES
SCHEMA = "id long, client string, amount double, text string"
JOB = """
import streamproof as sp

@sp.job
def through(rows: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=rows)
"""
SIZES = {10_000: 21, 250_000: 5, 1_000_000: 3}
"""Batches of so many records, and how many of them."""
LIMITS = {
    "postgres": "at least 1.5",
    "batches": "at least 1.0",
    "upsert": "at least 1.5",
    "kafka": "at least 0.8",
    "source": "at most 1.05",
}


class Bench:
    """A session, the services, and the rows as files."""

    def __init__(self, folder: Path, postgres: Postgres, kafka: KafkaCluster) -> None:
        self.folder, self.postgres, self.kafka = folder, postgres, kafka
        jars = [*jars_of(SPARK_KAFKA.bundle), *jars_of("postgres-jdbc")]
        settings = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "3g", **STREAMING}
        self.spark: SparkSession = start_session("benchmark", settings, jars=jars)
        self.first: list[float] = []
        self.data, self.few = folder / "data", folder / "few"
        self.data.mkdir()
        each = ROWS // (BATCHES * FILES)
        for number in range(BATCHES * FILES):
            ids = range(number * each, (number + 1) * each)
            columns = {
                "id": ids,
                "client": [f"c{i % 1000:04d}" for i in ids],
                "amount": [i / 7 for i in ids],
                "text": [f"{i:040d}" for i in ids],
            }
            pq.write_table(pa.table({name: list(values) for name, values in columns.items()}), self.data / f"{number}.parquet")

    def ours(self, sink: dict[str, Any], data: Path | None = None, source: str = "") -> float:
        """Seconds for all rows but the first batch's into a sink through the layer; from files, or as `source` says."""
        folder = self.folder / f"job-{short(new_id())}"
        folder.mkdir()
        (folder / "job.py").write_text(JOB)
        table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in sink.items())
        source = (
            source
            or f'connector = "files"\npath = "{data or self.data}"\nformat = "parquet"\nschema = "{SCHEMA}"\nfiles_per_batch = {FILES}\n'
        )
        (folder / "streamproof.toml").write_text(f'[job]\nentry = "job.py:through"\n[source.rows]\n{source}[sink.out]\n{table}')
        query = start_query(bind(load(folder)), "out", self.spark.newSession(), Start())
        query.wait()
        first, rest = seconds_of(query.stream.recentProgress)
        self.first.append(first - rest / max(1, sum(1 for each in query.stream.recentProgress if each.numInputRows) - 1))
        return rest

    def small(self, topic: str, *, exactly_once: bool) -> None:
        """Some small batches into a topic through the layer."""
        if not self.few.exists():
            self.few.mkdir()
            for number in range(SMALL_BATCHES * FILES):
                ids = range(number * SMALL_ROWS // FILES, (number + 1) * SMALL_ROWS // FILES)
                columns = {"id": list(ids), "client": ["c"] * len(ids), "amount": [1.0] * len(ids), "text": ["x" * 40] * len(ids)}
                pq.write_table(pa.table(columns), self.few / f"{number}.parquet")
        sink = {"connector": "kafka", "servers": self.kafka.url, "topic": topic}
        self.ours(sink if exactly_once else {**sink, "guarantee": "at-least-once"}, self.few)

    def by_hand(self, write: Callable[[DataFrame, int], None], rows: DataFrame | None = None) -> float:
        """Seconds for all rows but the first batch's through a `foreachBatch`."""
        if rows is None:
            rows = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES).parquet(str(self.data))
        checkpoint = self.folder / f"checkpoint-{short(new_id())}"
        writer = rows.writeStream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        query = writer.foreachBatch(write).start()
        query.awaitTermination()
        return seconds_of(query.recentProgress)[1]

    def sql(self, statement: str) -> None:
        with psycopg.connect(self.postgres.url, autocommit=True) as connection:
            connection.execute(statement)

    @property
    def jdbc(self) -> tuple[str, dict[str, str]]:
        address = self.postgres.url.split("@")[1]
        return f"jdbc:postgresql://{address}?user=streamproof", {"driver": "org.postgresql.Driver", "batchsize": "10000"}

    def topic(self, partitions: int = 2) -> str:
        name = f"t-{short(new_id())}"
        admin = AdminClient({"bootstrap.servers": self.kafka.url})
        admin.create_topics([NewTopic(name, partitions, -1)])[name].result(20)
        return name


def seconds_of(progress: Sequence[Any]) -> tuple[float, float]:
    """What the first batch took, and the others together."""
    first, *rest = (each.durationMs["triggerExecution"] / 1000 for each in progress if each.numInputRows)
    return first, sum(rest)


TABLE = "id bigint, client text, amount double precision, text text"


def postgres(bench: Bench) -> None:
    def ours() -> float:
        bench.sql(f"drop table if exists ours, streamproof_ledger, streamproof_fenced; create table ours ({TABLE})")
        return bench.ours({"connector": "postgres", "url": bench.postgres.url, "table": "ours"})

    def theirs(*, rewrite: bool = False) -> float:
        bench.sql(f"drop table if exists theirs; create table theirs ({TABLE})")
        url, options = bench.jdbc
        to = f"{url}&reWriteBatchedInserts=true" if rewrite else url
        return bench.by_hand(lambda rows, _: rows.write.jdbc(to, "theirs", mode="append", properties=options))

    printed("postgres", "rows/s, exactly once against write.jdbc", ours, theirs, rows_per_second=True)
    started(bench)
    stated(
        "the same with reWriteBatchedInserts=true in the URL (not Spark's default)",
        [MEASURED / theirs(rewrite=True) for _ in range(3)],
    )
    stated("bare COPY of the same rows as CSV, one connection", [ROWS / copied(bench) for _ in range(3)])


def batches(bench: Bench) -> None:
    """A topic of JSON with four partitions into a table, by size of batch."""
    url, options = bench.jdbc
    for size, number in SIZES.items():
        topic = filled(bench, 4, size * number)
        source = (
            f'connector = "kafka"\nservers = "{bench.kafka.url}"\ntopic = "{topic}"\nformat = "json"\nschema = "{SCHEMA}"\n'
            f"records_per_batch = {size}\n"
        )

        def ours(source: str = source) -> float:
            bench.sql(f"drop table if exists ours, streamproof_ledger, streamproof_fenced; create table ours ({TABLE})")
            return bench.ours({"connector": "postgres", "url": bench.postgres.url, "table": "ours"}, source=source)

        def theirs(topic: str = topic, size: int = size) -> float:
            bench.sql(f"drop table if exists theirs; create table theirs ({TABLE})")
            read = {"kafka.bootstrap.servers": bench.kafka.url, "subscribe": topic, "startingOffsets": "earliest"}
            records = bench.spark.readStream.format("kafka").options(**read, maxOffsetsPerTrigger=size).load()
            rows = records.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("r")).select("r.*")
            return bench.by_hand(lambda rows, _: rows.write.jdbc(url, "theirs", mode="append", properties=options), rows)

        what = f"rows/s in batches of {size:,}, JSON of four partitions, exactly once against write.jdbc with four tasks"
        printed("batches", what, ours, theirs, rows_per_second=True, rows=size * (number - 1))


def filled(bench: Bench, partitions: int, events: int) -> str:
    """A topic with so many records of JSON."""
    topic = bench.topic(partitions)
    producer = Producer({"bootstrap.servers": bench.kafka.url, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for begin in range(0, events, 10_000):
        for number in range(begin, min(begin + 10_000, events)):
            row = f'{{"id":{number},"client":"c{number % 1000:04d}","amount":{number / 7},"text":"{number:040d}"}}'
            producer.produce(topic, row, partition=number % partitions)
        producer.flush(60)
    return topic


def copied(bench: Bench) -> float:
    """Seconds for bare COPY, text made before."""
    from pyarrow import csv

    buffer = pa.BufferOutputStream()
    csv.write_csv(pq.read_table(bench.data), buffer, csv.WriteOptions(include_header=False))
    bench.sql(f"drop table if exists bare; create table bare ({TABLE})")
    started = monotonic_seconds()
    with psycopg.connect(bench.postgres.url) as connection, connection.cursor().copy("copy bare from stdin (format csv)") as copy:
        copy.write(memoryview(buffer.getvalue()))
    return monotonic_seconds() - started


def upsert(bench: Bench) -> None:
    keyed = TABLE.replace("id bigint", "id bigint primary key")

    def ours(shards: int = 1) -> float:
        bench.sql(f"drop table if exists ours, streamproof_ledger, streamproof_fenced; create table ours ({keyed})")
        keys = {"mode": "upsert", "key": ["id"], "shards": shards}
        return bench.ours({"connector": "postgres", "url": bench.postgres.url, "table": "ours", **keys})

    def theirs() -> float:
        bench.sql(f"drop table if exists theirs; create table theirs ({keyed})")
        url, options = bench.jdbc

        def write(rows: DataFrame, _: int) -> None:
            bench.sql(f"drop table if exists beside; create table beside ({TABLE})")
            rows.write.jdbc(url, "beside", mode="append", properties=options)
            bench.sql(
                "insert into theirs select * from beside on conflict (id) do update set client = excluded.client,"
                " amount = excluded.amount, text = excluded.text"
            )

        return bench.by_hand(write)

    printed("upsert", "rows/s, exactly once against write.jdbc and ON CONFLICT", ours, theirs, rows_per_second=True)
    stated("the same with two shards", [MEASURED / ours(shards=2) for _ in range(3)])


def kafka(bench: Bench) -> None:
    def ours() -> float:
        return bench.ours({"connector": "kafka", "servers": bench.kafka.url, "topic": bench.topic()})

    def theirs() -> float:
        topic = bench.topic()
        options = {"kafka.bootstrap.servers": bench.kafka.url, "topic": topic, "kafka.acks": "all"}

        def write(rows: DataFrame, _: int) -> None:
            rows.select(F.to_json(F.struct("*")).alias("value")).write.format("kafka").options(**options).save()

        return bench.by_hand(write)

    printed("kafka", "rows/s, transactions against Spark's own sink", ours, theirs, rows_per_second=True)
    started(bench)
    stated(
        "the same with two shards",
        [
            MEASURED / bench.ours({"connector": "kafka", "servers": bench.kafka.url, "topic": bench.topic(), "shards": 2})
            for _ in range(3)
        ],
    )


def latency(bench: Bench) -> None:
    """From a record's making by the producer to its being read, by a reader that waits for it, in batches of a thousand rows."""
    for name, isolation, write in (
        ("ours, read_committed", "read_committed", lambda topic: bench.small(topic, exactly_once=True)),
        ("ours at-least-once, read_uncommitted", "read_uncommitted", lambda topic: bench.small(topic, exactly_once=False)),
    ):
        topic = bench.topic()
        with Latencies(bench.kafka.url, topic, isolation) as found:
            write(topic)
        ordered = sorted(found.milliseconds)
        half, most = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
        print(f"latency    {half:.0f} ms   {name}: half of {len(ordered):,} records; 99 % within {most:.0f} ms", flush=True)


class Latencies:
    """Reads a topic beside its writer until every record has come."""

    def __init__(self, servers: str, topic: str, isolation: str) -> None:
        self.milliseconds: list[float] = []
        told = {"bootstrap.servers": servers, "group.id": new_id(), "isolation.level": isolation, "fetch.wait.max.ms": 10}
        self._consumer = Consumer(told)
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(2)])
        self._thread = threading.Thread(target=self._read)

    def _read(self) -> None:
        while len(self.milliseconds) < SMALL_ROWS * SMALL_BATCHES:
            message = self._consumer.poll(60)
            assert message is not None, "the records did not come"
            if message.error() is None:
                self.milliseconds.append(now_utc().timestamp() * 1000 - message.timestamp()[1])

    def __enter__(self) -> "Latencies":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._consumer.close()


def source(bench: Bench) -> None:
    from streamproof import _jvm
    from streamproof.config import KafkaSource
    from streamproof.connectors.event_time import accepted
    from streamproof.connectors.kafka.reading import read
    from streamproof.runtime.rows.doors import SideDoors

    events, topic = 1_000_000, bench.topic()
    producer = Producer({"bootstrap.servers": bench.kafka.url, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for number in range(events):
        while True:
            try:
                producer.produce(
                    topic,
                    json.dumps({"id": number, "client": f"c{number % 1000}", "amount": number / 7, "text": "x" * 40}),
                    partition=number % 2,
                )
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(60)
    bound = KafkaSource(connector="kafka", servers=bench.kafka.url, topic=topic, format="json", schema=SCHEMA)

    def drained(rows: DataFrame) -> float:
        checkpoint = bench.folder / f"checkpoint-{short(new_id())}"
        query = rows.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
        query.awaitTermination()
        return sum(progress.durationMs["triggerExecution"] for progress in query.recentProgress) / 1000

    def ours() -> float:
        session = bench.spark.newSession()
        doors = SideDoors(_jvm.Doors(session, str(bench.folder / "doors"), short(new_id())), {})
        return drained(accepted(read(session, "rows", bound, stream=True, trace=False), "rows", bound, doors))

    def theirs() -> float:
        options = {"kafka.bootstrap.servers": bench.kafka.url, "subscribe": topic, "startingOffsets": "earliest"}
        rows = bench.spark.readStream.format("kafka").options(**options).load()
        return drained(rows.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("r")).select("r.*"))

    printed(
        "source",
        f"time per event, {events:,} records of JSON, against the bare connector and from_json",
        ours,
        theirs,
        rows_per_second=False,
    )


def printed(
    name: str, what: str, ours: Callable[[], float], theirs: Callable[[], float], *, rows_per_second: bool, rows: int = MEASURED
) -> None:
    """The median of the ratios of pairs, after a pair that is left aside."""
    ours(), theirs()
    pairs = [(ours(), theirs()) if number % 2 else tuple(reversed((theirs(), ours()))) for number in range(PAIRS)]
    ratios = sorted(theirs / ours if rows_per_second else ours / theirs for ours, theirs in pairs)
    mine, others = (statistics.median(side) for side in zip(*pairs, strict=True))
    of = f"{rows / mine:,.0f} against {rows / others:,.0f} rows/s" if rows_per_second else f"{mine:.2f} against {others:.2f} s"
    print(
        f"{name:10} {statistics.median(ratios):.3f}  ({LIMITS[name]})   {what}: {of}; ratios {ratios[0]:.2f} to {ratios[-1]:.2f}",
        flush=True,
    )


def started(bench: Bench) -> None:
    print(f"{'':10} {statistics.median(bench.first):.1f} s   what our first batch of a run takes beyond the others", flush=True)
    bench.first.clear()


def stated(what: str, rates: list[float]) -> None:
    print(f"{'':10} {statistics.median(rates):,.0f} rows/s   {what}", flush=True)


ALL: dict[str, Callable[[Bench], None]] = {
    "postgres": postgres,
    "batches": batches,
    "upsert": upsert,
    "kafka": kafka,
    "latency": latency,
    "source": source,
}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="streamproof-benchmark-") as name:
        folder = Path(name)
        with Postgres(folder / "postgres") as database, KafkaCluster(folder / "kafka") as cluster:
            bench = Bench(folder, database, cluster)
            for wanted in sys.argv[1:] or ALL:
                ALL[wanted](bench)


if __name__ == "__main__":
    main()
