"""q16: of each channel and day how many bids there were, by whom and on what, by level of price."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.queries.days import bids_of_levels, by_day, dated, distinct_of_levels
from benchmarks.nexmark.query import Query


def aggregates() -> dict[str, Column]:
    return {
        "minute": F.max(F.date_format("dateTime", "HH:mm")),
        **bids_of_levels(),
        **distinct_of_levels("bidder"),
        **distinct_of_levels("auction"),
    }


@sp.job
def q16(bids: sp.Stream) -> sp.Outputs:
    days = bids.window(sp.tumbling("1 day"), by="channel").aggregate(**aggregates())
    return sp.Outputs(out=days.transform(dated))


def by_hand(bids: DataFrame) -> DataFrame:
    return by_day(bids, aggregates(), "channel")


QUERY = Query(
    "q16",
    "Channel statistics: the same of each channel.",
    {"bids": ("auction", "bidder", "price", "channel", "dateTime")},
    q16,
    by_hand,
    differs="As q15.",
)
