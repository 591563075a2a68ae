"""How long a batch takes with 10,000, 100,000 and 1,000,000 open windows, at the same updates per batch.

    python -m benchmarks.open_windows
    python -m benchmarks.open_windows --windows 1000 10000 --updates 500

Each size is a job of its own, of one window per key that stays open. Its first batches open the windows; each of those that are measured updates as
many of them as the others do, spread over all. The time is that of a whole micro-batch by Spark's own account, the median of those after the
first. Beside it stands the same aggregation written by hand: in append mode Spark looks at every window of its state in every batch, for those that
have ended. Ours does that in the first batch of a run, and in those that a window leaves; here none does (`WindowStateStoreProvider`).
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.time_per_event import SETTINGS
from streamproof.config import load
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.spark.session import start_session
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

WINDOWS = (10_000, 100_000, 1_000_000)
UPDATES = 5_000
BATCHES, ASIDE = 12, 3
"""Batches that update, and how many of them are left aside."""
LIMIT = 1.3
_SCHEMA = "client string, notional double, ts long"
_START_MS = 1_767_603_600_000
JOB = """
from pyspark.sql import functions as F
import streamproof as sp

@sp.job
def open_windows(trades: sp.Stream) -> sp.Outputs:
    out = trades.window(sp.tumbling("1 day"), by="client").aggregate(exposure=F.sum("notional"), trades=F.count("*"))
    return sp.Outputs(out=out)
"""


def written(spark: SparkSession, folder: Path, windows: int, updates: int) -> None:
    """The first file opens every window; each of the others updates some of them, spread over all."""
    step = max(1, windows // updates)
    for batch in range(BATCHES + 1):
        ids = spark.range(windows) if batch == 0 else spark.range(batch % step, windows, step).limit(updates)
        rows = ids.select(
            F.format_string("c%08d", "id").alias("client"),
            (F.pmod(F.hash("id", F.lit(batch)), F.lit(500_000)) / 100 + 1).alias("notional"),
            (F.lit(_START_MS) + F.lit(batch * 1_000) + F.pmod(F.col("id"), F.lit(1_000))).cast("long").alias("ts"),
        )
        made = folder / f".{batch:03d}"
        rows.coalesce(1).write.parquet(str(made))
        (part,) = made.glob("*.parquet")
        folder.mkdir(exist_ok=True)
        part.rename(folder / f"{batch:03d}.parquet")


def ours(spark: SparkSession, data: Path, folder: Path) -> StreamingQuery:
    (folder / "job.py").write_text(JOB)
    (folder / "streamproof.toml").write_text(
        f'[job]\nentry = "job.py:open_windows"\ncheckpoint = "checkpoint"\n[source.trades]\nconnector = "files"\npath = "{data}"\n'
        f'format = "parquet"\nschema = "{_SCHEMA}"\nfiles_per_batch = 1\n'
        'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }\n'
        '[sink.out]\nconnector = "files"\npath = "out"\nformat = "parquet"\n'
    )
    running = start_query(bind(load(folder)), "out", spark.newSession(), Start())
    running.wait()
    return running.stream


def by_hand(spark: SparkSession, data: Path, folder: Path) -> StreamingQuery:
    rows = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(data))
    made = _days(rows.withColumn("ts", F.timestamp_millis("ts")).withWatermark("ts", "10 seconds"))
    writer = made.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.option("path", str(folder / "out")).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def _days(rows: DataFrame) -> DataFrame:
    return rows.groupBy(F.window("ts", "1 day"), "client").agg(F.sum("notional").alias("exposure"), F.count("*").alias("trades"))


def milliseconds(query: StreamingQuery, updates: int) -> tuple[float, float]:
    """What a batch of updates takes, the median; and of that the look for windows that have ended, in tasks side by side."""
    batches = [batch for batch in query.recentProgress if batch["numInputRows"] == updates]
    assert len(batches) == BATCHES, f"{len(batches)} batches have {updates} rows"
    measured = batches[ASIDE:]
    looking = [
        sum(one["allRemovalsTimeMs"] / one["numStateStoreInstances"] for one in batch["stateOperators"]) for batch in measured
    ]
    return statistics.median(batch["durationMs"]["triggerExecution"] for batch in measured), statistics.median(looking)


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.open_windows")
    asked.add_argument("--windows", type=int, nargs="+", default=list(WINDOWS))
    asked.add_argument("--updates", type=int, default=UPDATES)
    wanted = asked.parse_args()
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "by hand": []}
    for windows in [wanted.windows[0], *wanted.windows]:  # the first one is left aside: Java is cold
        with tempfile.TemporaryDirectory() as name:
            base = Path(name)
            written(spark, base / "data", windows, wanted.updates)
            for side, run in (("ours", ours), ("by hand", by_hand)):
                folder = base / side.replace(" ", "-")
                folder.mkdir()
                found[side].append(milliseconds(run(spark, base / "data", folder), wanted.updates))
    for number, windows in enumerate(wanted.windows, start=1):
        (mine, looked), (theirs, _) = found["ours"][number], found["by hand"][number]
        print(
            f"{windows:>10,} open windows, {wanted.updates:,} updates a batch: {mine:.0f} ms a batch, of that {looked:.0f} ms for the look "
            f"for ended ones; by hand {theirs:.0f} ms",
            flush=True,
        )
    grown = {side: times[-1][0] / times[1][0] for side, times in found.items()}
    print(
        f"from {wanted.windows[0]:,} to {wanted.windows[-1]:,}: {grown['ours']:.2f} times (at most {LIMIT}), by hand {grown['by hand']:.2f} times"
    )


if __name__ == "__main__":
    main()
