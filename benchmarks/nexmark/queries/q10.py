"""q10: the bids, with day and minute."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import FAST, Query


def dated(bids: DataFrame) -> DataFrame:
    return bids.withColumns({"dt": F.date_format("dateTime", "yyyy-MM-dd"), "hm": F.date_format("dateTime", "HH:mm")})


@sp.job
def q10(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids.transform(dated))


QUERY = Query(
    "q10",
    "Log to file system: the bids in files, with day and minute.",
    {"bids": ("auction", "bidder", "price", "dateTime", "extra")},
    q10,
    dated,
    differs="Day and minute are columns and no folders, and files are Parquet: an output of ours has a folder for each batch.",
    timed=False,
    events=FAST,
)
