"""Orders and their payments, each pair once: copies of either are left out after they have met."""

import streamproof as sp


@sp.job
def once(orders: sp.Stream, payments: sp.Stream) -> sp.Outputs:
    """A copy of an order meets the payments that the order has met; so does a copy of a payment."""
    checked = orders.require(amount="amount > 0")
    paid = checked.join(payments, on="order_id", between=("-10 seconds", "30 seconds"), how="left").deduplicate(
        "id", "id_right", within="2 minutes"
    )
    return sp.Outputs(
        paid=paid,
        copies=paid.duplicates,
        late_orders=paid.late_left,
        late_payments=paid.late_right,
        unknown=paid.unmatched_right,
        rejected=checked.rejected,
    )
