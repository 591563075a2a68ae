"""Deduplication by six columns: Spark before 4.3 keeps more than four in an order of its own, which state must keep under a newer one."""

import streamproof as sp


@sp.job
def six_keys(orders: sp.Stream) -> sp.Outputs:
    """Each line of an order once."""
    return sp.Outputs(lines=orders.deduplicate("shop", "till", "day", "receipt", "line", "item"))
