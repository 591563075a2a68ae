"""q20: bids with their auction, of category 10."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query

CATEGORY = "category = 10"


@sp.job
def q20(auctions: sp.Stream, bids: sp.Stream) -> sp.Outputs:
    wanted = auctions.filter(CATEGORY, name="of other categories").transform(lambda rows: rows.withColumnRenamed("id", "auction"))
    return sp.Outputs(out=wanted.join(bids, on="auction", between=("-10 seconds", "1 minute")))


def by_hand(auctions: DataFrame, bids: DataFrame) -> DataFrame:
    wanted = auctions.filter(CATEGORY).withWatermark("dateTime", LAG).withColumnRenamed("id", "auction").alias("a")
    offers = bids.withWatermark("dateTime", LAG).alias("b")
    within = "b.dateTime BETWEEN a.dateTime - INTERVAL 10 SECONDS AND a.dateTime + INTERVAL 1 MINUTE"
    met = wanted.join(offers, F.expr(f"a.auction = b.auction AND {within}"))
    again = [F.col(f"b.{name}").alias(f"{name}_right") for name in ("dateTime", "extra")]
    return met.select("a.*", "b.bidder", "b.price", "b.channel", "b.url", *again)


QUERY = Query(
    "q20",
    "Expand bid with auction: bids on auctions of category 10, with both.",
    {
        "auctions": (
            "id",
            "itemName",
            "description",
            "initialBid",
            "reserve",
            "dateTime",
            "expires",
            "seller",
            "category",
            "extra",
        ),
        "bids": ("auction", "bidder", "price", "channel", "url", "dateTime", "extra"),
    },
    q20,
    by_hand,
    differs="A bid comes from ten seconds before the auction to a minute after it. There is no time bound in the public query, whose state "
    "grows for ever; at 10,000 events a second no pair lies further apart.",
)
