"""Time per event against hand-written PySpark doing the same work, side by side in one run: medians of the ratios of eleven pairs.

Both read the same columns of the same files in the same batches, with RocksDB, checkpoint format V2 and the same partitions, and write
Parquet. The hand-written job uses Spark's own file sink; ours stages, sums, writes a manifest, and publishes by ledger. The time is that of
all micro-batches by Spark's own account of them; building the plan and starting the query, which with Streamproof takes longer, are
left out on both sides. Batches on Parquet are large, so that what is measured is the events and not the start of a batch, which is
printed by itself; neither side pays for processes that Hadoop's local file system starts for every file where its native
library is missing. An argument runs one pair alone: window, deduplicate, through, sides or batch.
"""

import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from streamproof.config import load
from streamproof.runtime.binding import bind
from streamproof.runtime.query import Start, start_query
from streamproof.runtime.session import start_session

BATCHES, FILES, PAIRS = 4, 2, 11
EVENTS = {"window": 48_000_000, "deduplicate": 3_000_000, "through": 16_000_000, "sides": 16_000_000}
"""Events per run on Parquet; deduplication keeps each of them in RocksDB for minutes of event time and takes much longer. What a
batch costs whatever is in it is measured by itself."""
JSON_EVENTS = 1_000_000
"""Parsing a line takes longer than all else, so that fewer will do."""
AGGREGATED = "client string, notional double, ts long"
WHOLE = f"trade_id string, {AGGREGATED}"
SETTINGS = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "6g",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "io.streamproof.proof.ForklessFs",
    "spark.hadoop.fs.file.impl": "io.streamproof.proof.ForklessFileSystem$WithChecksums",
}

JOB = """
from pyspark.sql import functions as F
import streamproof as sp

@sp.job
def window(trades: sp.Stream) -> sp.Outputs:
    out = trades.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="1 minute").aggregate(
        exposure=F.sum("notional"), trades=F.count("*"))
    return sp.Outputs(out=out)

@sp.job
def sides(trades: sp.Stream) -> sp.Outputs:
    checked = trades.require(notional="notional > 0")
    out = checked.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="1 minute").aggregate(
        exposure=F.sum("notional"), trades=F.count("*"))
    return sp.Outputs(out=out, late=out.late, rejected=checked.rejected)

@sp.job
def deduplicated(trades: sp.Stream) -> sp.Outputs:
    out = trades.deduplicate("trade_id").window(sp.tumbling("30 seconds"), by="client", allowed_lateness="1 minute").aggregate(
        exposure=F.sum("notional"), trades=F.count("*"))
    return sp.Outputs(out=out)

@sp.job
def through(trades: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=trades)
"""


Run = Callable[[Path], float]
"""Runs one side in a folder of its own and gives its seconds."""


@dataclass(frozen=True)
class Input:
    """Files of trades on disk."""

    folder: Path
    kind: str
    events: int

    def read_by_hand(self, spark: SparkSession, schema: str) -> DataFrame:
        rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES).format(self.kind).load(str(self.folder))
        return rows.withColumn("ts", F.timestamp_millis("ts"))


def written(spark: SparkSession, folder: Path, kind: str, events: int) -> Input:
    """Trades in BATCHES x FILES files, event times rising with half a minute of disorder, a few of them late."""
    files = BATCHES * FILES
    rows = spark.range(0, events, 1, files).select(
        F.format_string("t-%09d", "id").alias("trade_id"),
        F.format_string("c%03d", F.pmod(F.hash("id"), F.lit(500))).alias("client"),
        (F.pmod(F.hash("id", F.lit(1)), F.lit(500_000)) / 100 + 1).alias("notional"),
        (F.lit(1_767_603_600_000) + F.col("id") * 3_600_000 / events - F.pmod(F.hash("id", F.lit(2)), F.lit(30_000)))
        .cast("long")
        .alias("ts"),
    )
    rows.write.format(kind).save(str(folder))
    return Input(folder, kind, events)


def by_hand(spark: SparkSession, source: Input, schema: str, plan: Callable[[DataFrame], DataFrame]) -> Run:
    """The hand-written query."""

    def run(folder: Path) -> float:
        rows = plan(source.read_by_hand(spark, schema))
        writer = rows.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
        query = writer.option("path", str(folder / "out")).trigger(availableNow=True).start()
        query.awaitTermination()
        return seconds_of_batches(query)

    return run


def ours(spark: SparkSession, source: Input, schema: str, job: str) -> Run:
    """The same job with Streamproof."""

    def run(folder: Path) -> float:
        (folder / "job.py").write_text(JOB)
        (folder / "streamproof.toml").write_text(
            f'[job]\nentry = "job.py:{job}"\ncheckpoint = "checkpoint"\n[source.trades]\nconnector = "files"\npath = "{source.folder}"\n'
            f'format = "{source.kind}"\nschema = "{schema}"\nfiles_per_batch = {FILES}\n'
            'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }\n'
            '[sink.out]\nconnector = "files"\npath = "out"\nformat = "parquet"\n'
        )
        bound = bind(load(folder))
        running = start_query(bound, "out", spark.newSession(), Start())
        running.wait()
        return seconds_of_batches(running.stream)

    return run


def seconds_of_batches(query: StreamingQuery) -> float:
    """What all micro-batches of a query took, by Spark's own account of them."""
    batches = query.recentProgress
    assert sum(batch["numInputRows"] > 0 for batch in batches) == BATCHES, "every batch is among the recent ones"
    return sum(batch["durationMs"]["triggerExecution"] for batch in batches) / 1_000


def windowed(rows: DataFrame) -> DataFrame:
    return summed(rows.withWatermark("ts", "70 seconds"))


def once(rows: DataFrame) -> DataFrame:
    return summed(rows.withWatermark("ts", "70 seconds").dropDuplicatesWithinWatermark(["trade_id"]))


def summed(rows: DataFrame) -> DataFrame:
    return rows.groupBy(F.window("ts", "30 seconds"), "client").agg(
        F.sum("notional").alias("exposure"), F.count("*").alias("trades")
    )


def unchanged(rows: DataFrame) -> DataFrame:
    return rows


@dataclass(frozen=True)
class Compared:
    """The median ratio of two sides run in turns, half of the ratios lie between `low` and `high`; and the median seconds of each."""

    ratio: float
    low: float
    high: float
    one: float
    other: float


def compared(one: Run, other: Run) -> Compared:
    """Runs both sides in turns, the first pair left aside."""
    ratios, mine, theirs = [], [], []
    for number in range(PAIRS + 1):
        taken = {}
        for run in (one, other) if number % 2 else (other, one):
            with tempfile.TemporaryDirectory() as folder:
                taken[run] = run(Path(folder))
        if number:
            ratios.append(taken[one] / taken[other])
            mine.append(taken[one])
            theirs.append(taken[other])
    low, ratio, high = statistics.quantiles(ratios, n=4)
    return Compared(ratio, low, high, statistics.median(mine), statistics.median(theirs))


def pair(title: str, source: Input, one: Run, other: Run, limit: float | None) -> None:
    """Prints the ratio of the two and their time per event."""
    found = compared(one, other)
    wanted = f" (at most {limit:.2f})" if limit else ""
    each = 1e9 / source.events
    print(
        f"{title:42} {source.kind:8}ratio {found.ratio:.3f}{wanted}, half of the pairs {found.low:.2f} to {found.high:.2f}; "
        f"{found.one * each:.0f} ns against {found.other * each:.0f} ns an event, {source.events:,} events",
        flush=True,
    )


def batch(spark: SparkSession, base: Path) -> None:
    """Prints what a batch takes that has hardly any events in it."""
    source = written(spark, base / "batch", "parquet", BATCHES * FILES * 10)
    found = compared(ours(spark, source, AGGREGATED, "window"), by_hand(spark, source, AGGREGATED, windowed))
    each = 1_000 / BATCHES
    print(
        f"{'a window batch of 20 events':42} parquet {found.one * each:.0f} ms against {found.other * each:.0f} ms a batch",
        flush=True,
    )


def measure(spark: SparkSession, base: Path, kind: str, wanted: str | None) -> None:
    """All pairs on one kind of input; only Parquet has a limit, JSON is stated."""

    def limit(value: float) -> float | None:
        return value if kind == "parquet" else None

    for name, events in EVENTS.items():
        if wanted not in (None, name):
            continue
        source = written(spark, base / kind / name, kind, events if kind == "parquet" else JSON_EVENTS)
        if name == "window":
            one, other = ours(spark, source, AGGREGATED, "window"), by_hand(spark, source, AGGREGATED, windowed)
            pair("window against hand-written", source, one, other, limit(1.05))
        elif name == "deduplicate":
            one, other = ours(spark, source, WHOLE, "deduplicated"), by_hand(spark, source, WHOLE, once)
            pair("deduplicate + window against hand-written", source, one, other, limit(1.05))
        elif name == "through":
            one, other = ours(spark, source, WHOLE, "through"), by_hand(spark, source, WHOLE, unchanged)
            pair("pass-through against hand-written", source, one, other, limit(1.10))
        else:
            one, other = ours(spark, source, AGGREGATED, "sides"), ours(spark, source, AGGREGATED, "window")
            pair("late and rejected outputs against without", source, one, other, limit(1.05))
        shutil.rmtree(source.folder)


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
    if wanted not in (None, "batch", *EVENTS):
        sys.exit(f"error  No pair is called {wanted}; there are {', '.join(EVENTS)} and batch.")
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as base:
        if wanted in (None, "batch"):
            batch(spark, Path(base))
        for kind in ("parquet", "json"):
            measure(spark, Path(base), kind, wanted)


if __name__ == "__main__":
    main()
