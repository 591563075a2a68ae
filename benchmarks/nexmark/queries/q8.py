"""q8: who registered and sold something in the same ten seconds."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query


def as_sellers(auctions: DataFrame) -> DataFrame:
    return auctions.withColumnRenamed("seller", "id").withColumn("name", F.lit(None).cast("string"))


def aggregates() -> dict[str, Column]:
    """The name of who registered; how many auctions there were."""
    return {"name": F.max("name"), "auctions": F.count_if(F.col("name").isNull())}


def marked(windows: DataFrame) -> DataFrame:
    return windows.withColumn("new_seller", F.expr("name IS NOT NULL AND auctions > 0"))


@sp.job
def q8(persons: sp.Stream, auctions: sp.Stream) -> sp.Outputs:
    people = persons.union(auctions.transform(as_sellers))
    found = people.window(sp.tumbling("10 seconds"), by="id").aggregate(**aggregates())
    return sp.Outputs(out=found.transform(marked))


def by_hand(persons: DataFrame, auctions: DataFrame) -> DataFrame:
    people = persons.withWatermark("dateTime", LAG).unionByName(as_sellers(auctions.withWatermark("dateTime", LAG)))
    named = {name: column.alias(name) for name, column in aggregates().items()}
    found = people.groupBy(F.window("dateTime", "10 seconds").alias("ten"), "id").agg(*named.values())
    return marked(found.select("id", F.col("ten.start").alias("window_start"), F.col("ten.end").alias("window_end"), *named))


QUERY = Query(
    "q8",
    "Monitor new users: who registered and sold something in the same ten seconds.",
    {"persons": ("id", "name", "dateTime"), "auctions": ("dateTime", "seller")},
    q8,
    by_hand,
    differs="By a union and one window, where the public query joins two windows; who did only one of both is in the output too, and marked, since "
    "no row is left out after a window.",
)
