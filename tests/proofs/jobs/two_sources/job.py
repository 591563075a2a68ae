"""Two sources of one job, each with its output: orders by client in windows, and payments once each."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def orders_and_payments(orders: sp.Stream, payments: sp.Stream) -> sp.Outputs:
    checked = orders.require(amount="amount > 0")
    totals = checked.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="20 seconds").aggregate(total=F.sum("amount"))
    paid = payments.deduplicate("payment")
    return sp.Outputs(totals=totals, late=totals.late, paid=paid, paid_late=paid.late, rejected=checked.rejected)
