"""q7: the highest bid of each ten seconds."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query


def highest() -> Column:
    return F.max(F.struct("price", "auction", "bidder", "dateTime", "extra"))


def taken_apart(windows: DataFrame) -> DataFrame:
    fields = {name: F.col(f"best.{name}") for name in ("auction", "bidder", "price", "dateTime", "extra")}
    return windows.withColumns(fields).drop("best")


@sp.job
def q7(bids: sp.Stream) -> sp.Outputs:
    best = bids.window(sp.tumbling("10 seconds")).aggregate(best=highest())
    return sp.Outputs(out=best.transform(taken_apart))


def by_hand(bids: DataFrame) -> DataFrame:
    best = bids.withWatermark("dateTime", LAG).groupBy(F.window("dateTime", "10 seconds").alias("ten")).agg(highest().alias("best"))
    return taken_apart(best.select(F.col("ten.start").alias("window_start"), F.col("ten.end").alias("window_end"), "best"))


QUERY = Query(
    "q7",
    "Highest bid: that of each ten seconds.",
    {"bids": ("auction", "bidder", "price", "dateTime", "extra")},
    q7,
    by_hand,
    differs="One row for each window: of several bids with the highest price, that of the greatest auction, then bidder.",
)
