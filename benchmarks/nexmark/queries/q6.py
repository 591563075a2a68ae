"""q6: the average price of the last ten auctions of each seller."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.queries.q4 import LONGEST, highest, met_by_hand
from benchmarks.nexmark.query import Query

ADDED = "aggregate(slice(sold, greatest(i - 8, 1), least(i + 1, 10)), CAST(0 AS BIGINT), (sum, one) -> sum + one.final)"


def sold() -> Column:
    """The auctions in which something was sold, the earliest end first."""
    return F.array_sort(F.collect_list(F.expr("CASE WHEN final IS NOT NULL THEN struct(expires, auction, final) END")))


def averages(days: DataFrame) -> DataFrame:
    """For each auction of a seller the average of it and of the nine before."""
    return days.withColumn("averages", F.expr(f"transform(sold, (one, i) -> {ADDED} / least(i + 1, 10))")).drop("sold")


@sp.job
def q6(auctions: sp.Stream, bids: sp.Stream) -> sp.Outputs:
    named = auctions.transform(lambda rows: rows.withColumnRenamed("id", "auction"))
    met = named.join(bids, on="auction", between=("0 seconds", LONGEST))
    won = met.window(sp.tumbling("1 day"), by=("auction", "seller")).aggregate(
        final=highest("dateTime_right"), expires=F.max("expires")
    )
    return sp.Outputs(out=won.window(sp.tumbling("1 day"), by="seller").aggregate(sold=sold()).transform(averages))


def by_hand(auctions: DataFrame, bids: DataFrame) -> DataFrame:
    day = F.window("dateTime", "1 day").alias("day")
    met = met_by_hand(auctions, bids).groupBy(day, "auction", "seller")
    won = met.agg(highest("at").alias("final"), F.max("expires").alias("expires"))
    found = won.groupBy(F.window("day", "1 day").alias("of"), "seller").agg(sold().alias("sold"))
    return averages(found.select("seller", F.col("of.start").alias("window_start"), F.col("of.end").alias("window_end"), "sold"))


QUERY = Query(
    "q6",
    "Average selling price by seller: of the last ten auctions.",
    {"auctions": ("id", "dateTime", "expires", "seller"), "bids": ("auction", "price", "dateTime")},
    q6,
    by_hand,
    differs="Of each day, when it is over, as one row with an array: for each auction that ended with a bid the average of it and of the nine before, "
    "in the order of their ends. A join within a minute and two windows, as q4. Flink does not say this query.",
)
