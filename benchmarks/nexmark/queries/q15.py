"""q15: of each day how many bids there were, by whom and on what, by level of price."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.queries.price_levels import bids_of_levels, distinct_of_levels
from benchmarks.nexmark.query import LAG, Query


def aggregates() -> dict[str, Column]:
    return {**bids_of_levels(), **distinct_of_levels("bidder"), **distinct_of_levels("auction")}


def dated(days: DataFrame) -> DataFrame:
    return days.withColumn("day", F.date_format("window_start", "yyyy-MM-dd")).drop("window_start", "window_end")


@sp.job
def q15(bids: sp.Stream) -> sp.Outputs:
    days = bids.window(sp.tumbling("1 day")).aggregate(**aggregates())
    return sp.Outputs(out=days.transform(dated))


def by_hand(bids: DataFrame) -> DataFrame:
    named = {name: column.alias(name) for name, column in aggregates().items()}
    days = bids.withWatermark("dateTime", LAG).groupBy(F.window("dateTime", "1 day").alias("of")).agg(*named.values())
    return dated(days.select(F.col("of.start").alias("window_start"), *named))


QUERY = Query(
    "q15",
    "Bidding statistics: of each day how many bids, bidders and auctions there were, by level of price.",
    {"bids": ("auction", "bidder", "price", "dateTime")},
    q15,
    by_hand,
    differs="When the day is over. Distinct ones are counted in sets: Spark has no distinct count in a stream.",
)
