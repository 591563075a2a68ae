"""Orders and their payments: which meet, and which of either stay alone."""

import streamproof as sp


@sp.job
def joined(orders: sp.Stream, payments: sp.Stream) -> sp.Outputs:
    """A payment comes from ten seconds before its order to half a minute after it."""
    checked = orders.require(amount="amount > 0")
    paid = checked.join(payments, on="order_id", between=("-10 seconds", "30 seconds"))
    return sp.Outputs(
        paid=paid,
        late_orders=paid.late_left,
        late_payments=paid.late_right,
        unpaid=paid.unmatched_left,
        unknown=paid.unmatched_right,
        rejected=checked.rejected,
    )
