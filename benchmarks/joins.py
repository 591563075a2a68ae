"""The join of two streams against Spark's own, written by hand: medians of the ratios of time per event, side by side in one run.

    python -m benchmarks.joins                          against its full outer join, and against its inner one
    python -m benchmarks.joins full --events 100000     one of them, with so many events of each source

As in `time_per_event`: Parquet files in the same batches, RocksDB, the time of all micro-batches by Spark's own account of them, pairs from three
processes. Ours has both outputs of rows without a partner. By hand rows in state are counted, as Spark does by default; `--uncounted` switches that off
there. Both sides must write as many pairs, or it stops.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks import time_per_event
from benchmarks.time_per_event import BATCHES, FILES, PROCESSES, SETTINGS, Run, Seconds, in_turns, of_processes, seconds_of_batches
from streamproof.config import load
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.spark.session import STATE_COUNTS, start_session
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

LIMIT = 1.10
EVENTS = 1_000_000
_SCHEMA = {"orders": "order_id long, total double, ts timestamp", "payments": "order_id long, paid double, at timestamp"}
JOB = """
import streamproof as sp

@sp.job
def joins(orders: sp.Stream, payments: sp.Stream) -> sp.Outputs:
    out = orders.join(payments, on="order_id", between=("-10 seconds", "1 minute"))
    return sp.Outputs(out=out, alone=out.unmatched_left, unknown=out.unmatched_right)
"""


def written(spark: SparkSession, folder: Path, events: int) -> None:
    """An hour of orders and of payments, of which nine in ten have a partner within twenty seconds."""
    files = BATCHES * FILES
    ids = spark.range(0, events, 1, files)
    begun = F.lit(1_767_603_600_000) + F.col("id") * 3_600_000 / events
    for name, time, stretch in (("orders", "ts", 0), ("payments", "at", 20_000)):
        kept = F.when(F.pmod(F.hash("id", F.lit(name)), F.lit(20)) == 0, -F.col("id") - 1 - stretch).otherwise(F.col("id"))
        at = F.timestamp_millis((begun + F.pmod(F.hash("id", F.lit(7)), F.lit(stretch + 1))).cast("long"))
        rows = ids.select(kept.alias("order_id"), (F.col("id") / 7).alias("total" if stretch == 0 else "paid"), at.alias(time))
        rows.write.parquet(str(folder / name))


def ours(spark: SparkSession, source: Path) -> Run:
    """The job with Streamproof."""

    def run(folder: Path) -> float:
        (folder / "job.py").write_text(JOB)
        lines = ['[job]\nentry = "job.py:joins"\ncheckpoint = "checkpoint"']
        for name, time in (("orders", "ts"), ("payments", "at")):
            lines.append(
                f'[source.{name}]\nconnector = "files"\npath = "{source / name}"\nformat = "parquet"\nschema = "{_SCHEMA[name]}"'
            )
            lines.append(f'files_per_batch = {FILES}\nevent_time = {{ column = "{time}", lag = "30 seconds" }}')
        lines += [
            f'[sink.{name}]\nconnector = "files"\npath = "{name}"\nformat = "parquet"' for name in ("out", "alone", "unknown")
        ]
        (folder / "streamproof.toml").write_text("\n".join(lines) + "\n")
        running = start_query(bind(load(folder)), "out", spark.newSession(), Start())
        running.wait()
        return seconds_of_batches(running.stream)

    return run


def by_hand(spark: SparkSession, source: Path, how: str, *, counted: bool) -> Run:
    """The hand-written query."""

    def read(session: SparkSession, name: str, time: str) -> DataFrame:
        rows = session.readStream.schema(_SCHEMA[name]).option("maxFilesPerTrigger", FILES).parquet(str(source / name))
        return rows.withWatermark(time, "30 seconds")

    def run(folder: Path) -> float:
        session = spark.newSession()
        session.conf.set(STATE_COUNTS, str(counted).lower())
        orders = read(session, "orders", "ts").alias("o")
        payments = read(session, "payments", "at").withColumnRenamed("order_id", "paid_id").alias("p")
        within = F.expr("order_id = paid_id AND at >= ts - INTERVAL 10 SECONDS AND at <= ts + INTERVAL 1 MINUTE")
        rows = orders.join(payments, within, how)
        writer = rows.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
        query = writer.option("path", str(folder / "out")).trigger(availableNow=True).start()
        query.awaitTermination()
        return seconds_of_batches(query)

    return run


def measured_here(how: str, events: int, *, counted: bool) -> list[Seconds]:
    """The pairs of one process; both sides have written as many pairs of rows."""
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as base:
        source = Path(base)
        written(spark, source, events)
        seen: dict[str, set[int]] = {"ours": set(), "by hand": set()}
        one, other = ours(spark, source), by_hand(spark, source, "full_outer" if how == "full" else "inner", counted=counted)
        found = in_turns(_looking(spark, one, seen["ours"]), _looking(spark, other, seen["by hand"]))
    assert seen["ours"] == seen["by hand"], f"the two sides differ: {seen}"
    assert len(seen["ours"]) == 1, seen
    return found


def _looking(spark: SparkSession, run: Run, seen: set[int]) -> Run:
    """The same run; how many pairs it has written is kept."""

    def looked(folder: Path) -> float:
        seconds = run(folder)
        files = [str(path) for path in (folder / "out").rglob("*.parquet") if not path.name.startswith(("_", "."))]
        seen.add(spark.read.parquet(*files).filter("ts is not null and at is not null").count())
        return seconds

    return looked


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.joins")
    asked.add_argument("how", nargs="?", choices=("full", "inner"))
    asked.add_argument("--events", type=int, default=EVENTS)
    asked.add_argument("--processes", type=int, default=PROCESSES)
    asked.add_argument("--pairs", type=int, default=time_per_event.PAIRS)
    asked.add_argument("--uncounted", action="store_true", help="by hand rows in state are not counted")
    asked.add_argument("--here", action="store_true", help="one of the processes")
    wanted = asked.parse_args()
    time_per_event.PAIRS = wanted.pairs
    for how in (wanted.how,) if wanted.how else ("full", "inner"):
        if wanted.here:
            print(json.dumps(measured_here(how, wanted.events, counted=not wanted.uncounted)))
            return
        words = [
            how,
            "--events",
            str(wanted.events),
            "--pairs",
            str(wanted.pairs),
            "--here",
            *(["--uncounted"] if wanted.uncounted else []),
        ]
        found = of_processes("joins", words, wanted.processes)
        one, other = (statistics.median(side) for side in zip(*found, strict=True))
        low, ratio, high = statistics.quantiles((mine / theirs for mine, theirs in found), n=4)
        limit = f" (at most {LIMIT})" if how == "full" else ""
        print(
            f"against its {how} join: ratio {ratio:.3f}{limit}, half of the pairs {low:.2f} to {high:.2f}; "
            f"{one * 1e9 / wanted.events / 2:.0f} ns against {other * 1e9 / wanted.events / 2:.0f} ns an event, {wanted.events:,} events of each",
            flush=True,
        )


if __name__ == "__main__":
    main()
