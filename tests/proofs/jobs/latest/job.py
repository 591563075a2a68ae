"""The newest price of each instrument, whenever it changes."""

import streamproof as sp


@sp.job
def latest(prices: sp.Stream) -> sp.Outputs:
    """Prices come in any order; one that is not newer than what is known of its instrument changes nothing."""
    checked = prices.require(price="price > 0")
    latest = checked.latest("instrument", order_by="version", within="40 seconds")
    return sp.Outputs(latest=latest, late=latest.late, rejected=checked.rejected)
