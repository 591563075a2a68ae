"""q3: who sells in three states, in category 10."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query

CATEGORY, STATES = "category = 10", "state IN ('OR', 'ID', 'CA')"


@sp.job
def q3(auctions: sp.Stream, persons: sp.Stream) -> sp.Outputs:
    wanted = auctions.filter(CATEGORY, name="of other categories")
    local = persons.filter(STATES, name="of other states").transform(lambda rows: rows.withColumnRenamed("id", "seller"))
    sold = wanted.join(local, on="seller", between=("-1 minute", "10 seconds"))
    return sp.Outputs(out=sold.transform(lambda rows: rows.drop("seller", "category", "dateTime", "dateTime_right")))


def by_hand(auctions: DataFrame, persons: DataFrame) -> DataFrame:
    wanted = auctions.filter(CATEGORY).withWatermark("dateTime", LAG).alias("a")
    local = persons.filter(STATES).withWatermark("dateTime", LAG).alias("p")
    within = "p.dateTime BETWEEN a.dateTime - INTERVAL 1 MINUTE AND a.dateTime + INTERVAL 10 SECONDS"
    sold = wanted.join(local, F.expr(f"a.seller = p.id AND {within}"))
    return sold.select("p.name", "p.city", "p.state", "a.id")


QUERY = Query(
    "q3",
    "Local item suggestion: who sells in OR, ID or CA, in category 10.",
    {
        "auctions": ("id", "dateTime", "seller", "category"),
        "persons": ("id", "name", "city", "state", "dateTime"),
    },
    q3,
    by_hand,
    differs="A person registers from a minute before the auction to ten seconds after it. There is no time bound in the public query, whose state "
    "grows for ever; at 10,000 events a second no pair lies further apart.",
)
