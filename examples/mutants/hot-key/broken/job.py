"""The mistake: one customer has most of the clicks, and one task gets them all."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def visits(clicks: sp.Stream) -> sp.Outputs:
    """The visits of each customer: clicks without a pause of two minutes."""
    per_visit = clicks.window(sp.session("2 minutes"), by="customer").aggregate(clicks=F.count("*"), last=F.max("at"))
    return sp.Outputs(visits=per_visit, late=per_visit.late)
