"""q17: of each auction and day how many bids there were, and the prices."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.queries.days import bids_of_levels, by_day, dated
from benchmarks.nexmark.query import Query


def aggregates() -> dict[str, Column]:
    return {
        **bids_of_levels(),
        "min_price": F.min("price"),
        "max_price": F.max("price"),
        "avg_price": F.avg("price").cast("bigint"),
        "sum_price": F.sum("price"),
    }


@sp.job
def q17(bids: sp.Stream) -> sp.Outputs:
    days = bids.window(sp.tumbling("1 day"), by="auction").aggregate(**aggregates())
    return sp.Outputs(out=days.transform(dated))


def by_hand(bids: DataFrame) -> DataFrame:
    return by_day(bids, aggregates(), "auction")


QUERY = Query(
    "q17",
    "Auction statistics: of each auction and day how many bids there were, and their prices.",
    {"bids": ("auction", "price", "dateTime")},
    q17,
    by_hand,
    differs="When the day is over.",
)
