"""Turnover per client in windows of 30 seconds, without deduplication, by a rate that is read when the job starts."""

from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp

RATE = Path(__file__).with_name("rate.txt")


def in_euros(rows: DataFrame) -> DataFrame:
    """The same rows with the notional in euros."""
    return rows.withColumn("notional", F.col("notional") * float(RATE.read_text()))


@sp.job
def windowed(trades: sp.Stream) -> sp.Outputs:
    """Sums the notional of each client's trades, but for the house's own."""
    checked = trades.require(notional="notional > 0")
    others = checked.filter("client <> 'c1'", name="own").transform(in_euros)
    turnover = others.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="20 seconds").aggregate(
        turnover=F.sum("notional")
    )
    return sp.Outputs(turnover=turnover, late=turnover.late, rejected=checked.rejected)
