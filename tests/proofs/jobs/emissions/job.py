"""Sales by shop: windows that are corrected for a minute, and running totals of windows that overlap."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def sales(orders: sp.Stream) -> sp.Outputs:
    paid = orders.require(amount="amount > 0").deduplicate("id", within="90 seconds")
    totals = paid.window(sp.tumbling("30 seconds"), by="shop", allowed_lateness="1 minute", emit="corrections").aggregate(
        total=F.sum("amount"), orders=F.count("*"), mean=F.round(F.avg("amount"), 4)
    )
    running = paid.window(sp.hopping("1 minute", every="30 seconds"), by="shop", emit="early").aggregate(total=F.sum("amount"))
    return sp.Outputs(totals=totals, running=running, late=totals.late, rejected=paid.rejected)
