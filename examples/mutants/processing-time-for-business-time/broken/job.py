"""The mistake: a payment counts for the minute in which it is processed, not for the one in which it was made."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp


def stamped(payments: DataFrame) -> DataFrame:
    """Puts the wall clock where the time of the payment was."""
    return payments.withColumn("at", F.current_timestamp())


@sp.job
def takings(payments: sp.Stream) -> sp.Outputs:
    """Sums the payments of each shop per minute of processing."""
    now = payments.transform(stamped)
    per_minute = now.window(sp.tumbling("1 minute"), by="shop").aggregate(total=F.sum("amount"), payments=F.count("*"))
    return sp.Outputs(takings=per_minute, late=per_minute.late)
