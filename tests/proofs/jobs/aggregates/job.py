"""Aggregates that are declared: an accumulator, percentiles, a distinct count and the most frequent values, of windows that overlap."""

import streamproof as sp

MEAN = sp.accumulator(
    zero={"total": "0D", "n": "0L"},
    add={"total": "total + notional", "n": "n + 1"},
    merge={"total": "left.total + right.total", "n": "left.n + right.n"},
    result="round(total / n, 3)",
)


@sp.job
def summaries(trades: sp.Stream) -> sp.Outputs:
    """What the trades of each client are like, for the last two minutes, every minute."""
    windows = trades.window(sp.hopping("2 minutes", every="1 minute"), by="client").aggregate(
        mean=MEAN,
        **sp.sketch.percentiles("notional", median=0.5, high=0.9, error=0.05),
        venues=sp.sketch.distinct("venue"),
        busiest=sp.sketch.top_k("venue", 2, error=0.05),
    )
    return sp.Outputs(summaries=windows, late=windows.late, rejected=windows.rejected)
