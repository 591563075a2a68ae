"""Each kind of window against hand-written PySpark doing the same: medians of the ratios of time per event, side by side in one run.

    python -m benchmarks.windows                             all kinds
    python -m benchmarks.windows session --events 100000     one of them, with so many events

As in `time_per_event`: the same columns of the same Parquet files in the same batches, RocksDB, the time of all micro-batches by Spark's own account
of them, pairs from three processes. Both sides must write the same number of rows with the same counts, or it stops. By hand a calendar day
or a shift is a window over the local time of the zone, with a watermark on that: right as long as no clock changes, as here.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks import time_per_event
from benchmarks.time_per_event import (
    AGGREGATED,
    PROCESSES,
    SETTINGS,
    Run,
    Seconds,
    by_hand,
    in_turns,
    of_processes,
    ours,
    summed,
    written,
)
from streamproof.runtime.spark.session import start_session

LIMIT = 1.05
_HOUR = 3_600_000
_ZONE = "Europe/Berlin"
_IDLE = "1 + pmod(hash(client), 3)"


@dataclass(frozen=True)
class Kind:
    """A kind of window on both sides; event times cover `span_ms`."""

    window: str
    by_hand: Callable[[DataFrame], DataFrame]
    events: int
    span_ms: int = _HOUR
    before: str = ""
    """What stands in front of the window."""

    @property
    def job(self) -> str:
        return (
            "from pyspark.sql import functions as F\nimport streamproof as sp\n\n@sp.job\ndef windows(trades: sp.Stream) -> sp.Outputs:\n"
            f'    out = trades{self.before}.window({self.window}, by="client", allowed_lateness="1 minute").aggregate(\n'
            '        exposure=F.sum("notional"), trades=F.count("*"))\n    return sp.Outputs(out=out)\n'
        )


def _hopping(rows: DataFrame) -> DataFrame:
    windows = F.window("ts", "1 minute", "20 seconds")
    return _of(rows.withWatermark("ts", "70 seconds").groupBy(windows, "client"))


def _session(rows: DataFrame) -> DataFrame:
    return _of(rows.withWatermark("ts", "70 seconds").groupBy(F.session_window("ts", "2 seconds"), "client"))


def _calendar(rows: DataFrame) -> DataFrame:
    local = rows.withColumn("local", F.from_utc_timestamp("ts", _ZONE)).withWatermark("local", "70 seconds")
    days = _of(local.groupBy(F.window("local", "1 day"), "client"))
    bounds = [F.to_utc_timestamp(f"window.{bound}", _ZONE).alias(bound) for bound in ("start", "end")]
    return days.select("client", *bounds, "exposure", "trades")


def _shifts(rows: DataFrame) -> DataFrame:
    local = rows.withColumn("local", F.from_utc_timestamp("ts", _ZONE)).withWatermark("local", "70 seconds")
    found = _of(local.groupBy(F.window("local", "8 hours", "8 hours", "6 hours"), "client"))
    bounds = [F.to_utc_timestamp(f"window.{bound}", _ZONE).alias(bound) for bound in ("start", "end")]
    return found.select("client", *bounds, "exposure", "trades")


def _own_gaps(rows: DataFrame) -> DataFrame:
    own = rows.withColumn("idle", F.expr(_IDLE)).withWatermark("ts", "70 seconds")
    return _of(own.groupBy(F.session_window("ts", F.make_interval(secs=F.col("idle"))), "client"))


def _of(grouped) -> DataFrame:  # type: ignore[no-untyped-def]
    return grouped.agg(F.sum("notional").alias("exposure"), F.count("*").alias("trades"))


KINDS = {
    "tumbling": Kind('sp.tumbling("30 seconds")', lambda rows: summed(rows.withWatermark("ts", "70 seconds")), 48_000_000),
    "hopping": Kind('sp.hopping("1 minute", every="20 seconds")', _hopping, 16_000_000),
    "session": Kind('sp.session("2 seconds")', _session, 3_000_000),
    "own gaps": Kind(
        'sp.session(sp.gap_of("idle", at_most="10 seconds"))',
        _own_gaps,
        3_000_000,
        before=f'.transform(lambda rows: rows.withColumn("idle", F.expr("{_IDLE}")))',
    ),
    "calendar": Kind(f'sp.calendar("day", zone="{_ZONE}")', _calendar, 48_000_000, span_ms=240 * _HOUR),
    "shifts": Kind(f'sp.shifts("06:00", "14:00", "22:00", zone="{_ZONE}")', _shifts, 48_000_000, span_ms=240 * _HOUR),
}


def measured_here(name: str, events: int) -> list[Seconds]:
    """The pairs of one process; both sides have written the same."""
    kind = KINDS[name]
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as base:
        source = written(spark, Path(base) / "in", "parquet", events, kind.span_ms)
        one = ours(spark, source, AGGREGATED, "windows", kind.job)
        other = by_hand(spark, source, AGGREGATED, kind.by_hand)
        seen: dict[str, set[tuple[int, int]]] = {"ours": set(), "by hand": set()}
        found = in_turns(_looking(spark, one, seen["ours"]), _looking(spark, other, seen["by hand"]))
    assert seen["ours"] == seen["by hand"], f"the two sides differ: {seen}"
    assert len(seen["ours"]) == 1, seen
    return found


def _looking(spark: SparkSession, run: Run, seen: set[tuple[int, int]]) -> Run:
    """The same run; how many rows it has written, and what their counts add up to, is kept."""

    def looked(folder: Path) -> float:
        seconds = run(folder)
        files = [str(path) for path in (folder / "out").rglob("*.parquet") if not path.name.startswith(("_", "."))]
        row = spark.read.parquet(*files).agg(F.count("*"), F.sum("trades")).collect()[0]
        seen.add((row[0], row[1]))
        return seconds

    return looked


def measured(name: str, events: int, processes: int) -> list[Seconds]:
    """The pairs of several processes, one after the other."""
    return of_processes("windows", [name, "--events", str(events), "--pairs", str(time_per_event.PAIRS), "--here"], processes)


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.windows")
    asked.add_argument("kind", nargs="?", choices=list(KINDS))
    asked.add_argument("--events", type=int)
    asked.add_argument("--processes", type=int, default=PROCESSES)
    asked.add_argument("--pairs", type=int, default=time_per_event.PAIRS)
    asked.add_argument("--here", action="store_true", help="one of the processes")
    wanted = asked.parse_args()
    time_per_event.PAIRS = wanted.pairs
    names = [name for name in KINDS if wanted.kind in (None, name)]
    for name in names:
        events = wanted.events or KINDS[name].events
        if wanted.here:
            print(json.dumps(measured_here(name, events)))
            return
        found = measured(name, events, wanted.processes)
        one, other = (statistics.median(side) for side in zip(*found, strict=True))
        low, ratio, high = statistics.quantiles((mine / theirs for mine, theirs in found), n=4)
        print(
            f"{KINDS[name].window:46} ratio {ratio:.3f} (at most {LIMIT}), half of the pairs {low:.2f} to {high:.2f}; "
            f"{one * 1e9 / events:.0f} ns against {other * 1e9 / events:.0f} ns an event, {events:,} events",
            flush=True,
        )


if __name__ == "__main__":
    main()
