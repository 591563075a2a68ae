"""q1: prices in euros."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import FAST, Query


def in_euros(bids: DataFrame) -> DataFrame:
    return bids.withColumn("price", F.expr("CAST(0.908 * price AS DECIMAL(23, 3))"))


@sp.job
def q1(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids.transform(in_euros))


QUERY = Query(
    "q1",
    "Currency conversion: prices in euros.",
    {"bids": ("auction", "bidder", "price", "dateTime", "extra")},
    q1,
    in_euros,
    timed=False,
    events=FAST,
)
