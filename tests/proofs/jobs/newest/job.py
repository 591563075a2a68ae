"""The newest version of each trade, once no other can come."""

import streamproof as sp


@sp.job
def newest(trades: sp.Stream) -> sp.Outputs:
    """Versions come in any order; each trade is published once, with the highest."""
    checked = trades.require(notional="notional > 0")
    newest = checked.deduplicate("trade_id", within="30 seconds", order_by="version", keep="last")
    return sp.Outputs(newest=newest, late=newest.late, rejected=checked.rejected)
