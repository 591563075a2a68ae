"""q19: the ten highest bids on each auction in ten seconds."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query


def top() -> Column:
    offers = F.collect_list(F.struct("price", "bidder", "channel", "dateTime"))
    return F.slice(F.sort_array(offers, asc=False), 1, 10)


@sp.job
def q19(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids.window(sp.tumbling("10 seconds"), by="auction").aggregate(top=top()))


def by_hand(bids: DataFrame) -> DataFrame:
    ten = F.window("dateTime", "10 seconds").alias("ten")
    found = bids.withWatermark("dateTime", LAG).groupBy(ten, "auction").agg(top().alias("top"))
    return found.select("auction", F.col("ten.start").alias("window_start"), F.col("ten.end").alias("window_end"), "top")


QUERY = Query(
    "q19",
    "Auction TOP-10 price: the ten highest bids on each auction.",
    {"bids": ("auction", "bidder", "price", "channel", "dateTime")},
    q19,
    by_hand,
    differs="Of each ten seconds, final, as one row with an array; the public query ranks all bids that there ever were. Without the long texts.",
)
