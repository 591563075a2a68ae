"""q22: bids with the folders of their URL."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import FAST, Query


def taken_apart(bids: DataFrame) -> DataFrame:
    parts = F.split("url", "/")
    return bids.withColumns({f"dir{number}": F.get(parts, number + 2) for number in (1, 2, 3)}).drop("url")


@sp.job
def q22(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids.transform(taken_apart))


QUERY = Query(
    "q22",
    "Get URL directories: bids with the folders of their URL.",
    {"bids": ("auction", "bidder", "price", "channel", "url")},
    q22,
    taken_apart,
    timed=False,
    events=FAST,
)
