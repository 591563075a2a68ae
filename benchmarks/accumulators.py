"""A declared accumulator against Spark's own aggregate of the same function, side by side: the median of the ratios of pairs.

Both are aggregations of the same rows by the same keys, in a batch query that writes nowhere: what is measured is the loop of the aggregation,
which is what differs. An argument gives another number of rows: `python -m benchmarks.accumulators 1000000`.
"""

import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamproof as sp
from streamproof import _jvm
from streamproof.stream.aggregates.declared import Declared, columns_of

ROWS, KEYS, PAIRS = 20_000_000, 10_000, 7
LIMIT = 2.0
SUM = sp.accumulator(zero={"s": "0D"}, add={"s": "s + v"}, merge={"s": "left.s + right.s"}, result="s")
MEAN = sp.accumulator(
    zero={"s": "0D", "n": "0L"},
    add={"s": "s + v", "n": "n + 1"},
    merge={"s": "left.s + right.s", "n": "left.n + right.n"},
    result="s / n",
)
MAXIMUM = sp.accumulator(
    zero={"m": "CAST(NULL AS double)"}, add={"m": "greatest(m, v)"}, merge={"m": "greatest(left.m, right.m)"}, result="m"
)


def main() -> None:
    """Prints a line for each function and stops with an error where a ratio is above its limit."""
    rows_asked = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraClassPath", ":".join(_jvm.jars()))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.range(rows_asked).select((F.col("id") % KEYS).alias("k"), (F.col("id") % 1_000 + 0.5).alias("v"))
    pairs: Mapping[str, tuple[Declared, Any]] = {
        "sum": (SUM, F.sum("v")),
        "mean": (MEAN, F.avg("v")),
        "maximum": (MAXIMUM, F.max("v")),
    }
    above = []
    for name, (declared, own) in pairs.items():
        ratio, seconds = measured(rows, declared, own)
        print(f"  {name:10} declared {seconds:6.2f} s   ratio to Spark's own {ratio:5.2f}   limit {LIMIT:.2f}", flush=True)
        if ratio > LIMIT:
            above.append(name)
    spark.stop()
    if above:
        sys.exit(f"above the limit: {', '.join(above)}")


def measured(rows: DataFrame, declared: Declared, own: Any) -> tuple[float, float]:
    """The median of the ratios of pairs, and of the seconds of the declared one; a first pair is left aside."""
    column = columns_of({"x": declared}, rows)["x"]
    ratios, seconds = [], []
    for pair in range(PAIRS + 1):
        # Which comes first alternates: what one leaves behind in memory the other pays for.
        order = (column, own) if pair % 2 else (own, column)
        first, second = (timed(rows, one) for one in order)
        mine, theirs = (first, second) if pair % 2 else (second, first)
        if pair:
            ratios.append(mine / theirs)
            seconds.append(mine)
    return statistics.median(ratios), statistics.median(seconds)


def timed(rows: DataFrame, column: Any) -> float:
    """The seconds of one aggregation."""
    start = time.perf_counter()
    rows.groupBy("k").agg(column.alias("x")).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
