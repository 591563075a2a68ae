"""Every kind of window, each an output of its own; the last one after a deduplication, which decides by itself what is late."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def every_window(trades: sp.Stream) -> sp.Outputs:
    """Sums the notional of each client's trades in windows of five kinds."""
    sums = {"exposure": F.sum("notional"), "trades": F.count("*")}
    hops = trades.window(sp.hopping("2 minutes", every="30 seconds"), by="client").aggregate(**sums)
    visits = trades.window(sp.session("10 seconds", longest="1 minute"), by="client", allowed_lateness="10 seconds").aggregate(
        **sums
    )
    days = trades.window(sp.calendar("day", zone="Europe/Berlin")).aggregate(**sums)
    nights = trades.window(sp.shifts("00:00", "02:30", "14:00", zone="Europe/Berlin"), by="client").aggregate(**sums)
    minutes = (
        trades.deduplicate("trade_id").window(sp.hopping("1 minute", every="30 seconds", offset="7 seconds")).aggregate(**sums)
    )
    return sp.Outputs(
        hops=hops,
        hops_late=hops.late,
        visits=visits,
        days=days,
        nights=nights,
        minutes=minutes,
        minutes_late=minutes.late,
        rejected=hops.rejected,
    )
