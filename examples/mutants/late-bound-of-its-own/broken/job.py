"""The mistake: the late output has a bound of its own, and the window has another one."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def takings(payments: sp.Stream) -> sp.Outputs:
    """Sums the payments of each shop per minute, and calls late what is older than a minute by the wall clock."""
    per_minute = payments.window(sp.tumbling("1 minute"), by="shop").aggregate(total=F.sum("amount"), payments=F.count("*"))
    late = payments.filter("at < current_timestamp() - INTERVAL 1 MINUTE", name="in time")
    return sp.Outputs(takings=per_minute, late=late)
