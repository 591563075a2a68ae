"""Windows that are corrected against windows of running results, the same job otherwise: medians of the ratios of time per event, in one run.

    python -m benchmarks.emissions
    python -m benchmarks.emissions --events 2000000 --processes 1

As in `time_per_event`: the same Parquet files in the same batches, RocksDB, the time of all micro-batches by Spark's own account of them, pairs from
three processes. Each has run both jobs over fewer events before, with as many windows: what reads waiting rows is called once a batch, so Java would
compile it while it is measured, and a job runs for days. It stops unless every run of a side has given as many windows with as many records, and no more
are corrected than were given early.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from benchmarks import time_per_event
from benchmarks.time_per_event import AGGREGATED, PROCESSES, SETTINGS, Run, Seconds, in_turns, of_processes, ours, written
from streamproof.runtime.spark.session import start_session

LIMIT = 1.15
EVENTS = 48_000_000
"""As many as `time_per_event` and `windows` take: what is measured is the events, and not the start of a batch."""
WARM_EVENTS, WARM_RUNS = 2_000_000, 6
_HOUR = 3_600_000
_LAST: Mapping[str, str] = {"rows": "count(1)", "trades": "sum(trades)"}


def job(emit: str) -> str:
    return (
        "from pyspark.sql import functions as F\nimport streamproof as sp\n\n@sp.job\ndef windows(trades: sp.Stream) -> sp.Outputs:\n"
        f'    out = trades.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="2 minutes", emit="{emit}").aggregate(\n'
        '        exposure=F.sum("notional"), trades=F.count("*"))\n    return sp.Outputs(out=out)\n'
    )


def measured_here(events: int) -> list[Seconds]:
    """The pairs of one process."""
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as base:
        few = written(spark, Path(base) / "few", "parquet", WARM_EVENTS, _HOUR)
        source = written(spark, Path(base) / "in", "parquet", events, _HOUR)
        for number in range(WARM_RUNS):
            for emit in ("corrections", "early"):
                folder = Path(base) / f"warm-{number}-{emit}"
                folder.mkdir()
                ours(spark, few, AGGREGATED, "windows", job(emit))(folder)
        seen: dict[str, set[tuple[int, int]]] = {"corrections": set(), "early": set()}
        runs = [_looking(spark, ours(spark, source, AGGREGATED, "windows", job(emit)), seen[emit]) for emit in seen]
        found = in_turns(*runs)
    (corrected,), (running,) = seen.values()
    assert corrected[0] <= running[0], "a window that waits is not given yet"
    assert 0 < corrected[1] <= running[1] <= events, seen
    return found


def _looking(spark: SparkSession, run: Run, seen: set[tuple[int, int]]) -> Run:
    """The same run; how many windows it has given, and what the counts of their last rows add up to, is kept."""

    def looked(folder: Path) -> float:
        seconds = run(folder)
        files = [str(path) for path in (folder / "out").rglob("*.parquet") if not path.name.startswith(("_", "."))]
        last = spark.read.parquet(*files).groupBy("client", "window_start").agg(F.max_by("trades", "revision").alias("trades"))
        row = last.agg(*[F.expr(text).alias(name) for name, text in _LAST.items()]).collect()[0]
        seen.add((row[0], row[1]))
        return seconds

    return looked


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.emissions")
    asked.add_argument("--events", type=int, default=EVENTS)
    asked.add_argument("--processes", type=int, default=PROCESSES)
    asked.add_argument("--pairs", type=int, default=time_per_event.PAIRS)
    asked.add_argument("--here", action="store_true", help="one of the processes")
    wanted = asked.parse_args()
    time_per_event.PAIRS = wanted.pairs
    if wanted.here:
        print(json.dumps(measured_here(wanted.events)))
        return
    found = of_processes("emissions", ["--events", str(wanted.events), "--pairs", str(wanted.pairs), "--here"], wanted.processes)
    one, other = (statistics.median(side) for side in zip(*found, strict=True))
    low, ratio, high = statistics.quantiles((mine / theirs for mine, theirs in found), n=4)
    print(
        f"corrections against early: ratio {ratio:.3f} (at most {LIMIT}), half of the pairs {low:.2f} to {high:.2f}; "
        f"{one * 1e9 / wanted.events:.0f} ns against {other * 1e9 / wanted.events:.0f} ns an event, {wanted.events:,} events",
        flush=True,
    )


if __name__ == "__main__":
    main()
