"""Jobs that are well, watched by a real Prometheus: no alert may fire.

    python -m benchmarks.quiet_runs                              2 runs of a minute, side by side
    python -m benchmarks.quiet_runs --runs 20 --minutes 10       the figure; four side by side, 50 minutes

Each run is a job with a deduplication, a window and side outputs, that gets a file each second. One record of a hundred is late, one of two hundred
is rejected, some come twice, and now and then a second brings nothing. Its metrics are scraped each second. The rules are those of `streamproof monitoring`,
with `--minute` for a minute of theirs, so that a rule which looks back a quarter of an hour has seen several of them in ten minutes. Prints the alerts that
fired, run by run, and ends with 1 if there is one, or if a run has done nothing.
"""

import argparse
import json
import logging
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from streamproof.config import load
from streamproof.core.clock import monotonic_seconds, now_utc
from streamproof.core.durations import parse_duration
from streamproof.core.randomness import Seeded
from streamproof.lab.prometheus import Prometheus
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.metrics.account import PLACES
from streamproof.observe.metrics.batches import BATCHES
from streamproof.observe.rules import alert_rules
from streamproof.observe.values import Values
from streamproof.runtime.run import run_job
from streamproof.runtime.spark.session import start_session

BESIDE = 4
"""So many runs at once: they share the cores."""
A_SECOND = 100
LEAST_BATCHES_A_MINUTE = 4
JOB = """
from pyspark.sql import functions as F
import streamproof as sp

@sp.job
def quiet(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0").deduplicate("id")
    sums = checked.window(sp.tumbling("10 seconds"), by="client").aggregate(total=F.sum("v"), n=F.count("*"))
    return sp.Outputs(sums=sums, late=sums.late, rejected=checked.rejected)
"""
TOML = """
[job]
entry = "job.py:{name}"
checkpoint = "checkpoint"
trigger = "1 second"
[source.events]
connector = "files"
path = "data"
format = "json"
schema = "id string, client string, v double, ts long"
event_time = {{ column = "ts", unit = "milliseconds", lag = "10 seconds" }}
[sink.sums]
connector = "files"
path = "out/sums"
format = "parquet"
[sink.late]
connector = "files"
path = "out/late"
format = "json"
[sink.rejected]
connector = "files"
path = "out/rejected"
format = "json"
[backup]
to = "backups"
every = "20 seconds"
[spark]
"spark.sql.shuffle.partitions" = "2"
"""
FAR = timedelta(minutes=5)


@dataclass
class Quiet:
    """A run: its folder, its metrics, and what ended it."""

    name: str
    folder: Path
    values: Values = field(default_factory=Values)
    over: threading.Event = field(default_factory=threading.Event)
    problem: str = ""

    def __post_init__(self) -> None:
        (self.folder / "data").mkdir(parents=True)
        (self.folder / "job.py").write_text(JOB.replace("quiet", self.name))
        (self.folder / "streamproof.toml").write_text(TOML.format(name=self.name))

    def feed(self) -> None:
        """A file each second, but for one in fifteen."""
        dice, number = Seeded(7, self.name), 0
        while not self.over.wait(1):
            number += 1
            if dice.below(15):
                hidden = self.folder / "data" / f".{number:06d}.json"
                hidden.write_text("".join(f"{json.dumps(row)}\n" for row in self._rows(dice, number)))
                hidden.rename(hidden.with_name(hidden.name.removeprefix(".")))

    def _rows(self, dice: Seeded, number: int) -> Iterator[dict[str, Any]]:
        now = now_utc()
        for one in range(A_SECOND):
            late = FAR if dice.below(100) == 0 else timedelta(milliseconds=dice.below(5_000))
            row = {
                "id": f"{self.name}-{number}-{one}",
                "client": f"c{dice.below(20)}",
                "v": -1.0 if dice.below(200) == 0 else float(dice.below(1_000)),
                "ts": int((now - late).timestamp() * 1_000),
            }
            yield row
            if dice.below(50) == 0:
                yield row

    def run(self, spark: SparkSession) -> None:
        try:
            run_job(load(self.folder), spark=spark, listener=self.values, latency=True, end=self.over)
        except Exception as problem:  # noqa: BLE001 -- whatever it is, it is said, and the others go on
            self.problem = f"{type(problem).__name__}: {problem}"

    @property
    def batches(self) -> int:
        return int(sum(value for value in self.values.now(BATCHES).values() if isinstance(value, float)))

    @property
    def account(self) -> str:
        found = {labels[1]: value for labels, value in self.values.now(PLACES).items() if isinstance(value, float) and value}
        return ", ".join(f"{place} {value:,.0f}" for place, value in found.items())


@contextmanager
def going(spark: SparkSession, runs: list[Quiet]) -> Iterator[list[Endpoint]]:
    """The runs, each fed and shown at an endpoint of its own."""
    with ExitStack() as stack:
        endpoints = [stack.enter_context(Endpoint(run.name, "0", run.values)) for run in runs]
        running = [threading.Thread(target=run.run, args=(spark,), daemon=True) for run in runs]
        feeding = [threading.Thread(target=run.feed, daemon=True) for run in runs]
        for thread in (*feeding, *running):
            thread.start()
        try:
            yield endpoints
        finally:
            for run in runs:
                run.over.set()
            for thread in (*running, *feeding):
                thread.join(120)


def watched(spark: SparkSession, runs: list[Quiet], seconds: float, minute: timedelta, folder: Path) -> dict[str, set[str]]:
    """By run the alerts that have fired while it went on."""
    with going(spark, runs) as endpoints:
        targets = ",".join(urlsplit(endpoint.url).netloc for endpoint in endpoints)
        with Prometheus(folder, scraped=targets, rules=alert_rules(minute)) as prometheus:
            begun = monotonic_seconds()
            while monotonic_seconds() - begun < seconds and not all(run.problem for run in runs):
                runs[0].over.wait(5)
            fired = prometheus.series(f'max_over_time(ALERTS{{alertstate="firing"}}[{int(seconds) + 300}s])')
    found: dict[str, set[str]] = {run.name: set() for run in runs}
    for one in fired:
        found[one["metric"]["job_name"]].add(one["metric"]["alertname"])
    return found


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.quiet_runs", description="Jobs that are well must raise no alert.")
    asked.add_argument("--runs", type=int, default=2)
    asked.add_argument("--minutes", type=float, default=1.0, help="how long each of them lasts")
    asked.add_argument("--beside", type=int, default=BESIDE, help=f"how many go on at the same time, {BESIDE} unless said")
    asked.add_argument(
        "--minute", type=parse_duration, default=timedelta(seconds=10), help='a minute of the rules: "10 seconds" unless said'
    )
    given = asked.parse_args()
    logging.getLogger("py4j").setLevel(logging.ERROR)
    spark = start_session("quiet runs", {"spark.sql.shuffle.partitions": "2"}, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    alerts = idle = 0
    with tempfile.TemporaryDirectory() as base:
        for first in range(0, given.runs, given.beside):
            numbers = range(first, min(first + given.beside, given.runs))
            runs = [Quiet(f"quiet_{number:02d}", Path(base) / f"run-{number}") for number in numbers]
            fired = watched(spark, runs, given.minutes * 60, given.minute, Path(base) / f"prometheus-{first}")
            for run in runs:
                said = ", ".join(sorted(fired[run.name])) or "no alert"
                print(f"{run.name}   {said}   {run.batches} batches: {run.account} {run.problem}".rstrip(), flush=True)
                alerts += len(fired[run.name])
                idle += run.batches < LEAST_BATCHES_A_MINUTE * given.minutes
    print(f"{alerts} alerts in {given.runs} quiet runs of {given.minutes:g} minutes, with {given.minute} for a minute of the rules")
    if idle:
        print(f"{idle} of the runs have committed fewer than {LEAST_BATCHES_A_MINUTE} batches a minute: they say nothing")
    sys.exit(bool(alerts or idle))


if __name__ == "__main__":
    main()
