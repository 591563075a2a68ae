"""q16: of each channel and day how many bids there were, by whom and on what, by level of price."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.queries.price_levels import bids_of_levels, distinct_of_levels
from benchmarks.nexmark.query import LAG, Query


def aggregates() -> dict[str, Column]:
    return {
        "minute": F.max(F.date_format("dateTime", "HH:mm")),
        **bids_of_levels(),
        **distinct_of_levels("bidder"),
        **distinct_of_levels("auction"),
    }


def dated(days: DataFrame) -> DataFrame:
    return days.withColumn("day", F.date_format("window_start", "yyyy-MM-dd")).drop("window_start", "window_end")


@sp.job
def q16(bids: sp.Stream) -> sp.Outputs:
    days = bids.window(sp.tumbling("1 day"), by="channel").aggregate(**aggregates())
    return sp.Outputs(out=days.transform(dated))


def by_hand(bids: DataFrame) -> DataFrame:
    named = {name: column.alias(name) for name, column in aggregates().items()}
    days = bids.withWatermark("dateTime", LAG).groupBy(F.window("dateTime", "1 day").alias("of"), "channel").agg(*named.values())
    return dated(days.select("channel", F.col("of.start").alias("window_start"), *named))


QUERY = Query(
    "q16",
    "Channel statistics: the same of each channel.",
    {"bids": ("auction", "bidder", "price", "channel", "dateTime")},
    q16,
    by_hand,
    differs="As q15.",
)
