"""q14: bids of some prices, with the time of day and a count of letters."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import FAST, Query

WANTED = "0.908 * price > 1000000 AND 0.908 * price < 50000000"
TIME_OF_DAY = """CASE
    WHEN hour(dateTime) >= 8 AND hour(dateTime) <= 18 THEN 'dayTime'
    WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime'
    ELSE 'otherTime'
END"""


def calculated(bids: DataFrame) -> DataFrame:
    columns = {
        "price": F.expr("CAST(0.908 * price AS DECIMAL(23, 3))"),
        "bidTimeType": F.expr(TIME_OF_DAY),
        "c_counts": F.expr("CAST(length(extra) - length(replace(extra, 'c', '')) AS BIGINT)"),
    }
    return bids.withColumns(columns)


@sp.job
def q14(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids.filter(WANTED, name="of other prices").transform(calculated))


def by_hand(bids: DataFrame) -> DataFrame:
    return calculated(bids.filter(WANTED))


QUERY = Query(
    "q14",
    "Calculation: bids of some prices, with the time of day and a count of letters.",
    {"bids": ("auction", "bidder", "price", "dateTime", "extra")},
    q14,
    by_hand,
    differs="Letters are counted in SQL, not by a function in Java.",
    timed=False,
    events=FAST,
)
