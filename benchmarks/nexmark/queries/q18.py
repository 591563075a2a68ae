"""q18: the last bid of each bidder on each auction."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query


@sp.job
def q18(bids: sp.Stream) -> sp.Outputs:
    last = bids.deduplicate("bidder", "auction", within="10 seconds", order_by="dateTime", keep="last")
    return sp.Outputs(out=last)


def by_hand(bids: DataFrame) -> DataFrame:
    quiet = F.session_window("dateTime", "10 seconds").alias("quiet")
    row = F.struct(*bids.columns)
    last = bids.withWatermark("dateTime", LAG).groupBy(quiet, "bidder", "auction").agg(F.max_by(row, "dateTime").alias("row"))
    return last.select("row.*")


QUERY = Query(
    "q18",
    "Find last bid: of each bidder on each auction.",
    {"bids": ("auction", "bidder", "price", "channel", "url", "dateTime", "extra")},
    q18,
    by_hand,
    differs="When no other bid of both has come for ten seconds; the public query gives a row again with each bid.",
)
