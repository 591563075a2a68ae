"""q0: the bids as they are."""

from pyspark.sql import DataFrame

import streamproof as sp
from benchmarks.nexmark.query import FAST, Query


@sp.job
def q0(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids)


def by_hand(bids: DataFrame) -> DataFrame:
    return bids


QUERY = Query(
    "q0",
    "Pass through: the bids as they are.",
    {"bids": ("auction", "bidder", "price", "dateTime", "extra")},
    q0,
    by_hand,
    timed=False,
    events=FAST,
)
