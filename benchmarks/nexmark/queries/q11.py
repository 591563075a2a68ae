"""q11: the bids of each session of a bidder."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query


@sp.job
def q11(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids.window(sp.session("10 seconds"), by="bidder").aggregate(bid_count=F.count("*")))


def by_hand(bids: DataFrame) -> DataFrame:
    session = F.session_window("dateTime", "10 seconds").alias("session")
    counts = bids.withWatermark("dateTime", LAG).groupBy(session, "bidder").agg(F.count("*").alias("bid_count"))
    bounds = F.col("session.start").alias("window_start"), F.col("session.end").alias("window_end")
    return counts.select("bidder", *bounds, "bid_count")


QUERY = Query(
    "q11",
    "User sessions: how many bids a bidder made in each session, which ends after ten quiet seconds.",
    {"bids": ("bidder", "dateTime")},
    q11,
    by_hand,
)
