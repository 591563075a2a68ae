"""Payouts that are asked for on a topic, made by calls to an API that knows no transactions."""

import streamproof as sp


@sp.job
def payments(requests: sp.Stream) -> sp.Outputs:
    """Each request is paid once, however often it was sent; what cannot be paid leaves by an output of its own."""
    checked = requests.require(id="payment_id is not null", amount="amount > 0", account="account is not null")
    return sp.Outputs(calls=checked.deduplicate("payment_id"), rejected=checked.rejected)
