"""Time per event against hand-written PySpark doing the same work, side by side in one run: medians of the ratios of five pairs.

Both read the same files in the same batches, with RocksDB, checkpoint format V2 and the same partitions, and write Parquet. The hand-written
job uses Spark's own file sink; ours stages, sums, writes a manifest, and publishes by ledger.
"""

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.config import load
from streamproof.runtime.run import run_job
from streamproof.runtime.session import start_session

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
BATCHES, FILES, PAIRS = 4, 2, 5
SCHEMA = "trade_id string, client string, notional double, ts long"
SETTINGS = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "6g"}

JOB = """
from pyspark.sql import functions as F
import streamproof as sp

@sp.job
def window(trades: sp.Stream) -> sp.Outputs:
    out = trades.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="1 minute").aggregate(
        exposure=F.sum("notional"), trades=F.count("*"))
    return sp.Outputs(out=out)

@sp.job
def both(trades: sp.Stream) -> sp.Outputs:
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


def write_input(spark: SparkSession, folder: Path, kind: str) -> None:
    """ROWS trades in BATCHES x FILES files, event times rising with half a minute of disorder, a few of them late."""
    rows = spark.range(ROWS).select(
        F.format_string("t-%09d", "id").alias("trade_id"),
        F.format_string("c%03d", (F.hash("id") % 500 + 500) % 500).alias("client"),
        (F.pmod(F.hash("id", F.lit(1)), F.lit(500_000)) / 100 + 1).alias("notional"),
        (F.lit(1_767_603_600_000) + F.col("id") * 3_600_000 / ROWS - F.pmod(F.hash("id", F.lit(2)), F.lit(30_000)))
        .cast("long")
        .alias("ts"),
    )
    per_file = ROWS // (BATCHES * FILES)
    for number in range(BATCHES * FILES):
        part = rows.filter(
            F.col("trade_id").between(f"t-{number * per_file:09d}", f"t-{(number + 1) * per_file - 1:09d}")
        ).coalesce(1)
        part.write.mode("append").format(kind).save(str(folder))


def by_hand(spark: SparkSession, source: Path, kind: str, folder: Path, plan: Callable[[DataFrame], DataFrame]) -> float:
    """Seconds that the hand-written query takes."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES)
    rows = reader.format(kind).load(str(source)).withColumn("ts", F.timestamp_millis("ts"))
    started = time.monotonic()
    query = (
        plan(rows)
        .writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .option("path", str(folder / "out"))
    )
    query.trigger(availableNow=True).start().awaitTermination()
    return time.monotonic() - started


def ours(spark: SparkSession, source: Path, kind: str, folder: Path, job: str) -> float:
    """Seconds that the same job takes with Streamproof."""
    (folder / "job.py").write_text(JOB)
    (folder / "streamproof.toml").write_text(
        f'[job]\nentry = "job.py:{job}"\ncheckpoint = "checkpoint"\n[source.trades]\nconnector = "files"\npath = "{source}"\nformat = "{kind}"\n'
        f'schema = "{SCHEMA}"\nfiles_per_batch = {FILES}\nevent_time = {{ column = "ts", unit = "milliseconds", lag = "10 seconds" }}\n'
        '[sink.out]\nconnector = "files"\npath = "out"\nformat = "parquet"\n'
    )
    return run_job(load(folder), spark=spark).seconds


def windowed(rows: DataFrame) -> DataFrame:
    late = rows.withWatermark("ts", "70 seconds")
    return late.groupBy(F.window("ts", "30 seconds"), "client").agg(
        F.sum("notional").alias("exposure"), F.count("*").alias("trades")
    )


def once(rows: DataFrame) -> DataFrame:
    kept = rows.withWatermark("ts", "70 seconds").dropDuplicatesWithinWatermark(["trade_id"])
    return kept.groupBy(F.window("ts", "30 seconds"), "client").agg(
        F.sum("notional").alias("exposure"), F.count("*").alias("trades")
    )


def pair(name: str, kind: str, one: Callable[[Path], float], other: Callable[[Path], float], limit: float | None) -> None:
    """Prints the median ratio of the two, run in turns, the first pair left aside."""
    ratios, mine, theirs = [], [], []
    for number in range(PAIRS + 1):
        taken = []
        for run in (one, other) if number % 2 else (other, one):
            with tempfile.TemporaryDirectory() as folder:
                taken.append(run(Path(folder)))
        first, second = taken if number % 2 else reversed(taken)
        if number:
            ratios.append(first / second)
            mine.append(first)
            theirs.append(second)
    wanted = f" (at most {limit})" if limit else ""
    each = 1e9 / ROWS
    print(
        f"{name:46} {kind:8} ratio {statistics.median(ratios):.3f}{wanted}   "
        f"{statistics.median(mine) * each:.0f} ns against {statistics.median(theirs) * each:.0f} ns an event",
        flush=True,
    )


def main() -> None:
    spark = start_session("benchmark", SETTINGS)
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as base:
        for kind in ("parquet", "json"):
            source = Path(base) / kind
            write_input(spark, source, kind)
            bound = 1.05 if kind == "parquet" else None

            def job(name: str, kind: str = kind, source: Path = source) -> Callable[[Path], float]:
                return lambda folder: ours(spark, source, kind, folder, name)

            def hand(plan: Callable[[DataFrame], DataFrame], kind: str = kind, source: Path = source) -> Callable[[Path], float]:
                return lambda folder: by_hand(spark, source, kind, folder, plan)

            pair("window against hand-written", kind, job("window"), hand(windowed), bound)
            pair("deduplicate + window against hand-written", kind, job("deduplicated"), hand(once), bound)
            pair("pass-through against hand-written", kind, job("through"), hand(lambda rows: rows), 1.10 if bound else None)
            pair("late and rejected outputs against without", kind, job("both"), job("window"), bound)
            shutil.rmtree(source)


if __name__ == "__main__":
    main()
