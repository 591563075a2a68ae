"""Sums per client and half minute, of trades in CSV, which are remembered for a minute of their own."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def lines(trades: sp.Stream) -> sp.Outputs:
    """Each trade counts once; notes have delimiters, quotes and line ends in them."""
    once = trades.require(notional="notional > 0").deduplicate("trade_id", within="1 minute")
    sums = once.window(sp.tumbling("30 seconds"), by=["client", "note"]).aggregate(
        notional=F.sum("notional"), trades=F.count("*"), bought=F.bool_or("bought")
    )
    return sp.Outputs(sums=sums, late=sums.late, rejected=sums.rejected, again=sums.duplicates)
