"""q4: the average price of the winning bids of each category."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query

LONGEST = "1 minute"
"""No auction is open for longer."""


def highest(at: str) -> Column:
    """The highest price that was bid while the auction was open; null where none was."""
    return F.max(F.expr(f"CASE WHEN {at} <= expires THEN price END"))


@sp.job
def q4(auctions: sp.Stream, bids: sp.Stream) -> sp.Outputs:
    named = auctions.transform(lambda rows: rows.withColumnRenamed("id", "auction"))
    met = named.join(bids, on="auction", between=("0 seconds", LONGEST))
    won = met.window(sp.tumbling("1 minute"), by=("auction", "category")).aggregate(final=highest("dateTime_right"))
    return sp.Outputs(out=won.window(sp.tumbling("1 minute"), by="category").aggregate(average=F.avg("final")))


def met_by_hand(auctions: DataFrame, bids: DataFrame) -> DataFrame:
    """Auctions with the bids on them that come within a minute."""
    sold = auctions.withWatermark("dateTime", LAG)
    offers = bids.withWatermark("dateTime", LAG).withColumnRenamed("dateTime", "at")
    return sold.join(offers, F.expr("id = auction AND at BETWEEN dateTime AND dateTime + INTERVAL 1 MINUTE"))


def by_hand(auctions: DataFrame, bids: DataFrame) -> DataFrame:
    minute = F.window("dateTime", "1 minute").alias("minute")
    won = met_by_hand(auctions, bids).groupBy(minute, "id", "category").agg(highest("at").alias("final"))
    found = won.groupBy(F.window("minute", "1 minute").alias("of"), "category").agg(F.avg("final").alias("average"))
    return found.select("category", F.col("of.start").alias("window_start"), F.col("of.end").alias("window_end"), "average")


QUERY = Query(
    "q4",
    "Average price for a category: of the winning bids.",
    {"auctions": ("id", "dateTime", "expires", "category"), "bids": ("auction", "price", "dateTime")},
    q4,
    by_hand,
    differs="Of the auctions that begin in each minute, when all of them are over, and final: a join within a minute, and two windows after it. "
    "No auction lasts as long. The public query has an average of all auctions that there ever were. A minute in which nothing was sold has a null.",
)
