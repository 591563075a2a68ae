"""q5: the auctions with the most bids in ten seconds, every two seconds."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query


def hottest(windows: DataFrame) -> DataFrame:
    """Of all auctions of a window those with the most bids."""
    found = "array_sort(transform(filter(counted, one -> one.num = num), one -> one.auction))"
    return windows.withColumn("auctions", F.expr(found)).drop("counted")


@sp.job
def q5(bids: sp.Stream) -> sp.Outputs:
    counts = bids.window(sp.hopping("10 seconds", every="2 seconds"), by="auction").aggregate(num=F.count("*"))
    ends = counts.window(sp.tumbling("2 seconds")).aggregate(num=F.max("num"), counted=F.collect_list(F.struct("auction", "num")))
    return sp.Outputs(out=ends.transform(hottest))


def by_hand(bids: DataFrame) -> DataFrame:
    ten = F.window("dateTime", "10 seconds", "2 seconds").alias("ten")
    counts = bids.withWatermark("dateTime", LAG).groupBy(ten, "auction").agg(F.count("*").alias("num"))
    ends = counts.groupBy(F.window("ten", "2 seconds").alias("end")).agg(
        F.max("num").alias("num"), F.collect_list(F.struct("auction", "num")).alias("counted")
    )
    return hottest(ends.select(F.col("end.start").alias("window_start"), F.col("end.end").alias("window_end"), "num", "counted"))


QUERY = Query(
    "q5",
    "Hot items: the auctions with the most bids in the last ten seconds, every two seconds.",
    {"bids": ("auction", "dateTime")},
    q5,
    by_hand,
    differs="One row for each window, with its auctions as an array, when it is final.",
)
