"""Time per event of both sides of a query: pairs in turns, from several processes, each of which checks that both sides gave the same."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from benchmarks.nexmark.generator import Input, Sample, written
from benchmarks.nexmark.query import Query
from benchmarks.nexmark.running import by_hand, ours, rows_in
from benchmarks.time_per_event import BATCHES, FILES, SETTINGS, Run, Seconds, in_turns
from streamproof.runtime.spark.session import start_session

MEAN_LIMIT, LIMIT = 1.03, 1.10
"""The geometric mean of the ratios of all queries, and the ratio of each, are at most that."""


@dataclass(frozen=True)
class Measured:
    """What the pairs of a query say: nanoseconds an event of both sides, the median of the ratios, and between which half of them lie."""

    events: int
    ours_ns: float
    by_hand_ns: float
    ratio: float
    low: float
    high: float

    def as_dict(self) -> Mapping[str, Any]:
        return asdict(self)


def session() -> SparkSession:
    """As every benchmark of time per event has it."""
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    return spark


def input_of(spark: SparkSession, base: Path, events: int) -> Input:
    """A sample of so many events below a folder; what another process has written there is taken as it is."""
    folder = base / str(events)
    if folder.is_dir():
        return Input(folder, events, BATCHES, FILES)
    return written(spark, folder, Sample(events), batches=BATCHES, files_per_batch=FILES)


def pairs_here(base: Path, query: Query, events: int, pairs: int) -> list[Seconds]:
    """The pairs of one process.

    Raises
    ------
    AssertionError
        If the two sides have not given the same rows, by their number and the sum of their hashes.
    """
    spark = session()
    source = input_of(spark, base, events)
    seen: dict[str, set[tuple[int, int]]] = {"ours": set(), "by hand": set()}
    one = _looking(spark, ours(spark, source, query), seen["ours"])
    other = _looking(spark, by_hand(spark, source, query), seen["by hand"])
    found = in_turns(one, other, pairs)
    assert seen["ours"] == seen["by hand"], f"{query.name}: the two sides differ: {seen}"
    assert len(seen["ours"]) == 1, f"{query.name}: {seen}"
    return found


def _looking(spark: SparkSession, run: Run, seen: set[tuple[int, int]]) -> Run:
    """The same run; how many rows it has written, and what their hashes add up to, is kept."""

    def looked(folder: Path) -> float:
        seconds = run(folder)
        rows = rows_in(spark, folder)
        hashed = F.xxhash64(*sorted(rows.columns)).cast("decimal(38, 0)")
        row = rows.agg(F.count("*"), F.sum(hashed)).collect()[0]
        seen.add((row[0], int(row[1])))
        return seconds

    return looked


def measured(found: Iterable[Seconds], events: int) -> Measured:
    """What pairs say of a query that read so many events."""
    pairs = list(found)
    one, other = (statistics.median(side) * 1e9 / events for side in zip(*pairs, strict=True))
    ratios = [mine / theirs for mine, theirs in pairs]
    low, ratio, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return Measured(events, one, other, ratio, low, high)


def mean_and_worst(ratios: Mapping[str, float]) -> tuple[float, str]:
    """The geometric mean of the ratios, and the query whose ratio is the greatest."""
    return statistics.geometric_mean(ratios.values()), max(ratios, key=lambda name: ratios[name])
