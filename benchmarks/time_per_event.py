"""Time per event against hand-written PySpark doing the same work, side by side: medians of the ratios of twelve pairs.

Both read the same columns of the same files in the same batches, with RocksDB, checkpoint format V2 and the same partitions, and write
Parquet. The hand-written job uses Spark's own file sink; ours stages, sums, writes a manifest, and publishes by ledger. The time is that of
all micro-batches by Spark's own account of them; building the plan and starting the query, which with Streamproof takes longer, are
left out on both sides. Batches on Parquet are large, so that what is measured is the events and not the start of a batch, which is
printed by itself; neither side pays for processes that Hadoop's local file system starts for every file where its native
library is missing. Java compiles a loop better in one process than in another, for either side: the pairs come from three processes.
An argument runs one pair alone: window, deduplicate, through, sides or batch.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from streamproof.config import load
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.spark.session import start_session
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

BATCHES, FILES = 4, 2
PROCESSES, PAIRS = 3, 4
"""Pairs in each process, after a first one that is left aside."""
EVENTS = {"window": 48_000_000, "deduplicate": 3_000_000, "through": 16_000_000, "sides": 16_000_000}
"""Events per run on Parquet; deduplication keeps each of them in RocksDB for minutes of event time and takes much longer. What a
batch costs whatever is in it is measured by itself."""
LIMITS = {"window": 1.05, "deduplicate": 1.05, "through": 1.10, "sides": 1.05}
TITLES = {
    "window": "window against hand-written",
    "deduplicate": "deduplicate + window against hand-written",
    "through": "pass-through against hand-written",
    "sides": "late and rejected outputs against without",
    "batch": "a window batch of 20 events",
}
JSON_EVENTS = 1_000_000
"""Parsing a line takes longer than all else, so that fewer will do."""
AGGREGATED = "client string, notional double, ts long"
WHOLE = f"trade_id string, {AGGREGATED}"
SETTINGS = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "6g",
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


def written(spark: SparkSession, folder: Path, kind: str, events: int, span_ms: int = 3_600_000) -> Input:
    """Trades in BATCHES x FILES files, event times rising with half a minute of disorder, a few of them late."""
    files = BATCHES * FILES
    rows = spark.range(0, events, 1, files).select(
        F.format_string("t-%09d", "id").alias("trade_id"),
        F.format_string("c%03d", F.pmod(F.hash("id"), F.lit(500))).alias("client"),
        (F.pmod(F.hash("id", F.lit(1)), F.lit(500_000)) / 100 + 1).alias("notional"),
        (F.lit(1_767_603_600_000) + F.col("id") * span_ms / events - F.pmod(F.hash("id", F.lit(2)), F.lit(30_000)))
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


def ours(spark: SparkSession, source: Input, schema: str, job: str, text: str = JOB, start: Start | None = None) -> Run:
    """The same job with Streamproof; `start` says who listens, by default nobody."""

    def run(folder: Path) -> float:
        (folder / "job.py").write_text(text)
        (folder / "streamproof.toml").write_text(
            f'[job]\nentry = "job.py:{job}"\ncheckpoint = "checkpoint"\n[source.trades]\nconnector = "files"\npath = "{source.folder}"\n'
            f'format = "{source.kind}"\nschema = "{schema}"\nfiles_per_batch = {FILES}\n'
            'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }\n'
            '[sink.out]\nconnector = "files"\npath = "out"\nformat = "parquet"\n'
        )
        bound = bind(load(folder))
        running = start_query(bound, "out", spark.newSession(), start or Start())
        running.wait()
        return seconds_of_batches(running.stream)

    return run


def seconds_of_batches(query: StreamingQuery, wanted: int = BATCHES) -> float:
    """What all micro-batches of a query took, by Spark's own account of them; so many have read files.

    How many rows they have read does not tell: of a Parquet file whose values a filter leaves out Spark reads none.
    """
    batches = query.recentProgress
    found = sum(any(source["startOffset"] != source["endOffset"] for source in batch["sources"]) for batch in batches)
    assert found == wanted, f"every batch is among the recent ones: {found} of {wanted}"
    return float(sum(batch["durationMs"]["triggerExecution"] for batch in batches)) / 1_000


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


Seconds = tuple[float, float]
"""What the two sides of a pair took."""


def both_sides(spark: SparkSession, source: Input, name: str) -> tuple[Run, Run]:
    """The two sides of a pair."""
    if name in ("window", "batch"):
        return ours(spark, source, AGGREGATED, "window"), by_hand(spark, source, AGGREGATED, windowed)
    if name == "deduplicate":
        return ours(spark, source, WHOLE, "deduplicated"), by_hand(spark, source, WHOLE, once)
    if name == "through":
        return ours(spark, source, WHOLE, "through"), by_hand(spark, source, WHOLE, unchanged)
    return ours(spark, source, AGGREGATED, "sides"), ours(spark, source, AGGREGATED, "window")


def in_turns(one: Run, other: Run, pairs: int | None = None) -> list[Seconds]:
    """Runs both sides in turns, in so many pairs, by default `PAIRS`; a first one is left aside."""
    found = []
    for number in range((pairs or PAIRS) + 1):
        taken = {}
        for run in (one, other) if number % 2 else (other, one):
            with tempfile.TemporaryDirectory() as folder:
                taken[run] = run(Path(folder))
        found.append((taken[one], taken[other]))
    return found[1:]


def measured_here(name: str, kind: str, events: int) -> list[Seconds]:
    """The pairs of one process."""
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as base:
        return in_turns(*both_sides(spark, written(spark, Path(base) / "in", kind, events), name))


def measured(name: str, kind: str, events: int) -> list[Seconds]:
    """The pairs of several processes, one after the other."""
    return of_processes("time_per_event", [name, kind, str(events)], PROCESSES)


def of_processes(benchmark: str, arguments: Sequence[str], processes: int) -> list[Seconds]:
    """The pairs that a benchmark measures in several processes, one after the other; each prints its own in its last line, as JSON."""
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", *arguments]
    found: list[Seconds] = []
    for _ in range(processes):
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found += [(one, other) for one, other in json.loads(done.stdout.splitlines()[-1])]
    return found


def show(name: str, kind: str, limit: float | None) -> None:
    """Measures a pair and prints its ratio and what both sides take."""
    events = BATCHES * FILES * 10 if name == "batch" else EVENTS[name] if kind == "parquet" else JSON_EVENTS
    found = measured(name, kind, events)
    one, other = (statistics.median(side) for side in zip(*found, strict=True))
    if name == "batch":
        said = f"{one * 1_000 / BATCHES:.0f} ms against {other * 1_000 / BATCHES:.0f} ms a batch"
    else:
        low, ratio, high = statistics.quantiles((mine / theirs for mine, theirs in found), n=4)
        wanted = f" (at most {limit:.2f})" if limit else ""
        said = f"ratio {ratio:.3f}{wanted}, half of the pairs {low:.2f} to {high:.2f}; "
        said += f"{one * 1e9 / events:.0f} ns against {other * 1e9 / events:.0f} ns an event, {events:,} events"
    print(f"{TITLES[name]:42} {kind:8}{said}", flush=True)


def main() -> None:
    if len(sys.argv) == 4:  # one of the processes
        name, kind, events = sys.argv[1:]
        print(json.dumps(measured_here(name, kind, int(events))))
        return
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
    if wanted not in (None, *TITLES):
        sys.exit(f"error  No pair is called {wanted}; there are {', '.join(TITLES)}.")
    names = [name for name in TITLES if wanted in (None, name)]
    for name in names:  # only Parquet has a limit, JSON is stated
        show(name, "parquet", LIMITS.get(name))
    for name in names:
        if name != "batch":
            show(name, "json", None)


if __name__ == "__main__":
    main()
