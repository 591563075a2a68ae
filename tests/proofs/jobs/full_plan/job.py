"""Risk exposure per client in windows of 30 seconds: the example that the demo proves."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def risk_exposure(trades: sp.Stream) -> sp.Outputs:
    """Sums the notional of each client's trades; late and rejected trades leave by outputs of their own."""
    checked = trades.require(notional="notional > 0")
    once = checked.deduplicate("trade_id")
    exposure = once.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="1 minute", emit="final").aggregate(
        exposure=F.sum("notional"), trades=F.count("*")
    )
    return sp.Outputs(exposure=exposure, late=exposure.late, rejected=checked.rejected)
