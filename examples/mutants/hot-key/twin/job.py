"""Right: the clicks are dealt over eight tasks first, and each of them sends a row for each visit."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def visits(clicks: sp.Stream) -> sp.Outputs:
    """The visits of each customer: clicks without a pause of two minutes."""
    per_visit = clicks.window(sp.session("2 minutes"), by="customer").aggregate(clicks=F.count("*"), last=F.max("at"), spread=8)
    return sp.Outputs(visits=per_visit, late=per_visit.late)
