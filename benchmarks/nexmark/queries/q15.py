"""q15: of each day how many bids there were, by whom and on what, by level of price."""

from pyspark.sql import Column, DataFrame

import streamproof as sp
from benchmarks.nexmark.queries.days import bids_of_levels, by_day, dated, distinct_of_levels
from benchmarks.nexmark.query import Query


def aggregates() -> dict[str, Column]:
    return {**bids_of_levels(), **distinct_of_levels("bidder"), **distinct_of_levels("auction")}


@sp.job
def q15(bids: sp.Stream) -> sp.Outputs:
    days = bids.window(sp.tumbling("1 day")).aggregate(**aggregates())
    return sp.Outputs(out=days.transform(dated))


def by_hand(bids: DataFrame) -> DataFrame:
    return by_day(bids, aggregates())


QUERY = Query(
    "q15",
    "Bidding statistics: of each day how many bids, bidders and auctions there were, by level of price.",
    {"bids": ("auction", "bidder", "price", "dateTime")},
    q15,
    by_hand,
    differs="When the day is over. Distinct ones are counted in sets: Spark has no distinct count in a stream.",
)
