"""What it costs to be watched: a job with its live page open in a reader and its metrics scraped, against the same job with nobody looking.

    python -m benchmarks.watched                                                 twelve pairs of 48 million events, from three processes
    python -m benchmarks.watched --events 20000 --processes 1 --pairs 2          whether it runs through, in a minute: no measurement

Medians of the ratios of pairs from several processes, as in `time_per_event`; and what a batch of 20 events takes longer. The reader takes each
picture as a browser does, and the metrics are asked for every second, from this process too: it is the dearer way.
"""

import argparse
import json
import statistics
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.time_per_event import (
    AGGREGATED,
    BATCHES,
    EVENTS,
    FILES,
    PAIRS,
    SETTINGS,
    Seconds,
    in_turns,
    of_processes,
    ours,
    written,
)
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.live.access import Access
from streamproof.observe.live.board import RunBoard
from streamproof.observe.live.server import LivePage, bound
from streamproof.observe.values import Values
from streamproof.runtime.spark.session import start_session
from streamproof.runtime.start.options import Start
from streamproof.runtime.watching.events import Emitter

PROCESSES = 3
LIMIT, LIMIT_MS = 1.01, 10
SMALL = BATCHES * FILES * 10


@contextmanager
def watching() -> Iterator[Start]:
    """A start with somebody who looks and something that scrapes."""
    board, values, over = RunBoard("watched"), Values(), threading.Event()
    with Endpoint("watched", "0", values) as endpoint, LivePage(board, bound("0"), Access()) as page:

        def look() -> None:
            with suppress(OSError), urllib.request.urlopen(f"{page.url}pictures", timeout=30) as pictures:
                for _ in pictures:
                    if over.is_set():
                        return

        def scrape() -> None:
            while not over.wait(1):
                with suppress(OSError), urllib.request.urlopen(endpoint.url, timeout=10) as answer:
                    answer.read()

        for each in (look, scrape):
            threading.Thread(target=each, daemon=True).start()
        yield Start(emitter=Emitter(board, values))
        over.set()


def measured_here(spark: SparkSession, events: int, pairs: int) -> list[Seconds]:
    """The pairs of one process."""
    with tempfile.TemporaryDirectory() as base, watching() as start:
        source = written(spark, Path(base) / "in", "parquet", events)
        return in_turns(ours(spark, source, AGGREGATED, "window", start=start), ours(spark, source, AGGREGATED, "window"), pairs)


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.watched")
    asked.add_argument("--events", type=int, default=EVENTS["window"], help="of each run; fewer say less")
    asked.add_argument("--processes", type=int, default=PROCESSES)
    asked.add_argument("--pairs", type=int, default=PAIRS, help="in each process, at least two in all")
    asked.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.here:  # one of the processes
        spark = start_session("benchmark", SETTINGS, proof=True)
        spark.sparkContext.setLogLevel("OFF")
        print(json.dumps(measured_here(spark, given.events, given.pairs)))
        return
    if given.processes * given.pairs < 2:
        asked.error("at least two pairs in all: a median has to be of something")

    def pairs_of(events: int) -> list[Seconds]:
        return of_processes("watched", ["--here", "--events", str(events), "--pairs", str(given.pairs)], given.processes)

    found = pairs_of(given.events)
    low, ratio, high = statistics.quantiles((mine / theirs for mine, theirs in found), n=4)
    print(
        f"watched against not watched   ratio {ratio:.3f} (at most {LIMIT}), half of the pairs {low:.2f} to {high:.2f}", flush=True
    )
    found = pairs_of(SMALL)
    longer = statistics.median((mine - theirs) * 1_000 / BATCHES for mine, theirs in found)
    print(f"a batch of 20 events          {longer:.1f} ms longer (at most {LIMIT_MS})", flush=True)


if __name__ == "__main__":
    main()
