"""Orders and refunds, two sources with clocks of their own, in one stream: once each, and summed up in windows of two kinds."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def turnover(orders: sp.Stream, refunds: sp.Stream) -> sp.Outputs:
    paid = refunds.filter("amount < 80", name="large")
    both = orders.union(paid).require(amount="amount > 0").filter("client <> 'c1'", name="of our own")
    once = both.deduplicate("id")
    totals = once.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="20 seconds").aggregate(total=F.sum("amount"))
    halves = once.window(sp.tumbling("30 seconds"), by="client").aggregate(sold=F.sum("amount"))
    busiest = halves.window(sp.tumbling("2 minutes"), by="client").aggregate(most=F.max("sold"))
    return sp.Outputs(totals=totals, busiest=busiest, late=totals.late, rejected=both.rejected)
