"""What each shop takes per minute: the job that the mutants are made from. It is right; each mutant changes one thing."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def takings(payments: sp.Stream) -> sp.Outputs:
    """Sums the payments of each shop per minute."""
    per_minute = payments.window(sp.tumbling("1 minute"), by="shop").aggregate(total=F.sum("amount"), payments=F.count("*"))
    return sp.Outputs(takings=per_minute, late=per_minute.late)
