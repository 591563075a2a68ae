"""Trades, each once; what is kept goes to two sinks, and so does what is rejected."""

import streamproof as sp


@sp.job
def trades_once(trades: sp.Stream) -> sp.Outputs:
    """Lets the first of each trade through."""
    checked = trades.require(notional="notional > 0")
    kept = checked.deduplicate("trade_id")
    return sp.Outputs(kept=kept, late=kept.late, rejected=checked.rejected)
