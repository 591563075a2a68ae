"""The newest row of each key: what rows are compared with, and how long, are in a state of our own processor."""

import streamproof as sp


@sp.job
def newest(prices: sp.Stream) -> sp.Outputs:
    """The price of each instrument, whenever it changes."""
    return sp.Outputs(newest=prices.latest("instrument", "market", order_by="version", within="5 minutes"))
