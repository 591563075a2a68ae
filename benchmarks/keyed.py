"""Declared keyed state against a native aggregation and against Python's transformWithState: key updates per second, in one run.

    python -m benchmarks.keyed
    python -m benchmarks.keyed --batches 10

All read the same Parquet files in the same batches, with RocksDB, and count and add up by key. A key update is a key that a batch brings rows of. The
time is that of all micro-batches but the first, by Spark's own account of them. Python's needs protobuf and pandas; without them it is left out.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.config import load
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.spark.session import start_session
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

KEYS, ROWS = 10_000, 20_000
"""Keys in all, and rows in each batch."""
SETTINGS = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "4g"}
JOB = """
import streamproof as sp

@sp.job
def kept(events: sp.Stream) -> sp.Outputs:
    kept = events.keyed(
        "client",
        state={"n": "0L", "total": "0D"},
        on_row=sp.step(set={"n": "n + 1", "total": "total + v"}, emit=sp.emit("client", "n", "total", when="n % 1000 = 0")),
        ttl="30 days",
    )
    return sp.Outputs(kept=kept)
"""


def written(spark: SparkSession, folder: Path, batches: int) -> None:
    for batch in range(batches):
        spark.range(batch * ROWS, (batch + 1) * ROWS, 1, 1).select(
            F.format_string("c%05d", F.pmod(F.hash("id"), F.lit(KEYS))).alias("client"),
            (F.pmod(F.hash("id", F.lit(1)), F.lit(500)) / 4).alias("v"),
            (F.lit(1_767_603_600_000) + F.col("id")).alias("ts"),
        ).write.mode("append").parquet(str(folder))


def ours(spark: SparkSession, source: Path, folder: Path) -> float:
    (folder / "job.py").write_text(JOB)
    (folder / "streamproof.toml").write_text(
        f'[job]\nentry = "job.py:kept"\ncheckpoint = "checkpoint"\n[source.events]\nconnector = "files"\npath = "{source}"\n'
        'format = "parquet"\nschema = "client string, v double, ts long"\nfiles_per_batch = 1\n'
        'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }\n'
        '[sink.kept]\nconnector = "files"\npath = "out"\nformat = "parquet"\n'
    )
    running = start_query(bind(load(folder)), "kept", spark.newSession(), Start())
    running.wait()
    return _seconds(running.stream)


def by_hand(plan: Callable[[DataFrame], DataFrame]) -> Callable[[SparkSession, Path, Path], float]:
    def run(spark: SparkSession, source: Path, folder: Path) -> float:
        rows = spark.readStream.schema("client string, v double, ts long").option("maxFilesPerTrigger", 1).parquet(str(source))
        writer = plan(rows).writeStream.format("noop").outputMode("update").option("checkpointLocation", str(folder / "checkpoint"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return _seconds(query)

    return run


def native(rows: DataFrame) -> DataFrame:
    return rows.groupBy("client").agg(F.count("*").alias("n"), F.sum("v").alias("total"))


def in_python(rows: DataFrame) -> DataFrame:
    from benchmarks.keyed_in_python import Counting

    return rows.groupBy("client").transformWithState(Counting(), "client string, n bigint, total double", "Update", "None")


def _seconds(query: object) -> float:
    found = [batch["durationMs"]["triggerExecution"] for batch in query.recentProgress if batch["numInputRows"] > 0]  # type: ignore[attr-defined]
    return sum(found[1:]) / 1_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--python", action="store_true", help="with Python's transformWithState")
    options = parser.parse_args()
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    sides = {"keyed": ours, "native": by_hand(native), **({"python": by_hand(in_python)} if options.python else {})}
    with tempfile.TemporaryDirectory() as base:
        source = Path(base) / "in"
        written(spark, source, options.batches)
        files = spark.read.parquet(str(source)).withColumn("file", F.input_file_name())
        updates = files.select("file", "client").distinct().count() * (options.batches - 1) / options.batches
        rates: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(options.turns):
            for name, run in sides.items():
                folder = Path(base) / f"{name}-{turn}"
                folder.mkdir()
                rates[name].append(updates / run(spark, source, folder))
                print(f"{name}: {rates[name][-1]:,.0f} key updates a second", flush=True)
    print(json.dumps({name: round(statistics.median(found)) for name, found in rates.items()}))


if __name__ == "__main__":
    main()
