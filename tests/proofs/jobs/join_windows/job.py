"""What was ordered and paid in each half minute of orders, by the way of payment."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def summed(orders: sp.Stream, payments: sp.Stream) -> sp.Outputs:
    """Orders without a payment are in the windows too, with no way of payment: each comes out when the last payment for it can have come."""
    checked = orders.require(amount="amount > 0")
    paid = checked.join(payments, on="order_id", between=("-10 seconds", "30 seconds"), how="left")
    sums = paid.window(sp.tumbling("30 seconds"), by="method").aggregate(amount=F.sum("amount"), last=F.max("ts_right"))
    return sp.Outputs(
        sums=sums,
        late_orders=sums.late_left,
        late_payments=sums.late_right,
        unknown=sums.unmatched_right,
        rejected=checked.rejected,
    )
