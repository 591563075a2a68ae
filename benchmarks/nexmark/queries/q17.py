"""q17: of each auction and day how many bids there were, and the prices."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.queries.price_levels import bids_of_levels
from benchmarks.nexmark.query import LAG, Query


def aggregates() -> dict[str, Column]:
    return {
        **bids_of_levels(),
        "min_price": F.min("price"),
        "max_price": F.max("price"),
        "avg_price": F.avg("price").cast("bigint"),
        "sum_price": F.sum("price"),
    }


def dated(days: DataFrame) -> DataFrame:
    return days.withColumn("day", F.date_format("window_start", "yyyy-MM-dd")).drop("window_start", "window_end")


@sp.job
def q17(bids: sp.Stream) -> sp.Outputs:
    days = bids.window(sp.tumbling("1 day"), by="auction").aggregate(**aggregates())
    return sp.Outputs(out=days.transform(dated))


def by_hand(bids: DataFrame) -> DataFrame:
    named = {name: column.alias(name) for name, column in aggregates().items()}
    days = bids.withWatermark("dateTime", LAG).groupBy(F.window("dateTime", "1 day").alias("of"), "auction").agg(*named.values())
    return dated(days.select("auction", F.col("of.start").alias("window_start"), *named))


QUERY = Query(
    "q17",
    "Auction statistics: of each auction and day how many bids there were, and their prices.",
    {"bids": ("auction", "price", "dateTime")},
    q17,
    by_hand,
    differs="When the day is over.",
)
