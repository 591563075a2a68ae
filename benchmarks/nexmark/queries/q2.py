"""q2: bids on every 123rd auction."""

from pyspark.sql import DataFrame

import streamproof as sp
from benchmarks.nexmark.query import FAST, Query

WANTED = "auction % 123 = 0"


@sp.job
def q2(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids.filter(WANTED, name="of other auctions"))


def by_hand(bids: DataFrame) -> DataFrame:
    return bids.filter(WANTED)


QUERY = Query(
    "q2",
    "Selection: bids on every 123rd auction.",
    {"bids": ("auction", "price")},
    q2,
    by_hand,
    timed=False,
    events=FAST,
)
