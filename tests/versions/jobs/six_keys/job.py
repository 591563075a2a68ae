"""Deduplication by six columns: Spark before 4.3 keeps more than four in an order of its own, which state must keep under a newer one."""

import streamproof as sp


@sp.job
def six_keys(orders: sp.Stream) -> sp.Outputs:
    """Each line of an order once, and its copies: what finds these stands in the tasks of the operator, by the same order."""
    lines = orders.deduplicate("shop", "till", "day", "receipt", "line", "item")
    return sp.Outputs(lines=lines, again=lines.duplicates)
