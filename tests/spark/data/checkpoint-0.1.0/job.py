from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    sums = checked.deduplicate("id").window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v"), n=F.count("*"))
    return sp.Outputs(sums=sums, late=sums.late, rejected=checked.rejected)
