"""q13: bids with a value from a table."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.generator import SIDE_INPUT
from benchmarks.nexmark.query import FAST, Query


def with_key(bids: DataFrame) -> DataFrame:
    return bids.withColumn("key", F.expr("auction % 10000"))


@sp.job
def q13(bids: sp.Stream) -> sp.Outputs:
    found = bids.transform(with_key).lookup(SIDE_INPUT, on="key", columns=("value",))
    return sp.Outputs(out=found.transform(lambda rows: rows.drop("key")))


def by_hand(bids: DataFrame, side_input: DataFrame) -> DataFrame:
    return with_key(bids).join(F.broadcast(side_input), "key").drop("key")


QUERY = Query(
    "q13",
    "Bounded side input join: bids with a value from a table of 10,000 rows.",
    {"bids": ("auction", "bidder", "price", "dateTime")},
    q13,
    by_hand,
    timed=False,
    tables=(SIDE_INPUT,),
    events=FAST,
)
