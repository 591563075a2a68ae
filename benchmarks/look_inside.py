"""How long `streamproof inspect` takes for a checkpoint with 1,000,000 keys: the summary, and one key by `--where`. Medians of fresh processes.

    python -m benchmarks.look_inside
    python -m benchmarks.look_inside --keys 10000 --stores rocksdb --partitions 200 --kinds groups

A plain PySpark job writes each checkpoint: `groups` counts and sums by key, `ids` remembers ids. Its first batch brings all keys but one in a
thousand, its second the rest, so that changelogs and deltas have to be read in their order. Every command is a process of its own, as a
person starts it: the time has the start of Python, and of Java where Spark is needed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

KEYS, TIMES = 1_000_000, 3
SUMMARY_AT_MOST, KEY_AT_MOST = 10.0, 10.0
"""Seconds."""
PARTITIONS = (4,)
_STATE = "org.apache.spark.sql.execution.streaming.state"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = {_PROVIDER: f"{_STATE}.RocksDBStateStoreProvider"}
STORES: Mapping[str, Mapping[str, str]] = {
    "rocksdb": _ROCKSDB,
    "changelogs": {**_ROCKSDB, "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true"},
    "ids": {**_ROCKSDB, "spark.sql.streaming.stateStore.checkpointFormatVersion": "2"},
    "hdfs": {_PROVIDER: f"{_STATE}.HDFSBackedStateStoreProvider"},
}
_SCHEMA = "client string, v double, ts timestamp"


def _groups(rows: DataFrame) -> DataFrame:
    return rows.groupBy("client").agg(F.count("*"), F.sum("v"))


def _ids(rows: DataFrame) -> DataFrame:
    return rows.withWatermark("ts", "100 days").dropDuplicatesWithinWatermark(["client"])


KINDS: Mapping[str, Callable[[DataFrame], DataFrame]] = {"groups": _groups, "ids": _ids}


def write_rows(spark: SparkSession, folder: Path, keys: int) -> None:
    """Two files of Parquet, each read in a batch of its own."""
    first = keys - max(1, keys // 1_000)
    for number, (begin, end) in enumerate(((0, first), (first, keys))):
        made = folder / f".{number}"
        rows = spark.range(begin, end).select(
            F.format_string("c%08d", "id").alias("client"),
            (F.pmod(F.hash("id"), F.lit(500_000)) / 100).alias("v"),
            F.timestamp_millis(F.lit(1_767_603_600_000) + F.col("id")).alias("ts"),
        )
        rows.coalesce(1).write.parquet(str(made))
        (part,) = made.glob("*.parquet")
        path = folder / f"{number}.parquet"
        part.rename(path)
        os.utime(path, (1_700_000_000 + number,) * 2)


def write_checkpoint(spark: SparkSession, kind: str, store: str, partitions: int, rows: Path, checkpoint: Path) -> None:
    own = spark.newSession()
    for key, value in {**STORES[store], "spark.sql.shuffle.partitions": str(partitions)}.items():
        own.conf.set(key, value)
    read = own.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(rows))
    writer = KINDS[kind](read).writeStream.outputMode("update").format("noop").option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()


def seconds(words: Sequence[str], times: int) -> tuple[float, str]:
    """The median of several runs of `streamproof inspect`, and what the last one printed."""
    taken, printed = [], ""
    for _ in range(times):
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "streamproof.cli.main", "inspect", *words], check=True, capture_output=True, text=True
        )
        taken.append(time.monotonic() - started)
        printed = done.stdout
    return statistics.median(taken), printed


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.look_inside", description=__doc__)
    asked.add_argument("--keys", type=int, default=KEYS)
    asked.add_argument("--times", type=int, default=TIMES)
    asked.add_argument("--kinds", nargs="+", default=[*KINDS], choices=[*KINDS])
    asked.add_argument("--stores", nargs="+", default=[*STORES], choices=[*STORES])
    asked.add_argument("--partitions", type=int, nargs="+", default=list(PARTITIONS))
    asked.add_argument("--keep", type=Path, help="a folder where the checkpoints are kept, and taken from if they are there")
    wanted = asked.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = wanted.keep or Path(scratch)
        places = {
            (kind, store, count): base / f"{wanted.keys}-{kind}-{store}-{count}"
            for kind in wanted.kinds
            for store in wanted.stores
            for count in wanted.partitions
        }
        missing = {what: place for what, place in places.items() if not (place / "commits" / "1").is_file()}
        if missing:
            builder = SparkSession.builder.appName("benchmark").config("spark.ui.enabled", "false")
            builder = builder.config("spark.ui.showConsoleProgress", "false")
            spark = builder.config("spark.driver.memory", "3g").config("spark.sql.session.timeZone", "UTC").getOrCreate()
            spark.sparkContext.setLogLevel("OFF")
            rows = Path(scratch, "rows")
            rows.mkdir()
            write_rows(spark, rows, wanted.keys)
            for (kind, store, count), place in missing.items():
                write_checkpoint(spark, kind, store, count, rows, place)
            spark.stop()
        one = f"c{wanted.keys // 2:08d}"
        for (kind, store, count), place in places.items():
            summary, _ = seconds([str(place)], wanted.times)
            key, printed = seconds([str(place), "--operator", "0", "--where", f"client = '{one}'", "--json"], wanted.times)
            found = [row["client"] for row in json.loads(printed)["rows"]]
            assert found == [one], f"{place}: found {found}, not {one}"
            told = f"summary {summary:.1f} s (at most {SUMMARY_AT_MOST:.0f}), one key {key:.1f} s (at most {KEY_AT_MOST:.0f})"
            print(f"{kind:8}{store:12}{count:>4} partitions  {wanted.keys:,} keys: {told}", flush=True)


if __name__ == "__main__":
    main()
