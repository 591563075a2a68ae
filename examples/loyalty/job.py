"""Loyalty points per member and day in Berlin: paid at midnight, corrected for shops that were offline, until half past one."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def loyalty(purchases: sp.Stream) -> sp.Outputs:
    """A point for each full euro; the row of a day with the highest revision is what a member has."""
    sound = purchases.require(euros="euros > 0").deduplicate("receipt")
    days = sound.window(
        sp.calendar("day", zone="Europe/Berlin"), by="member", allowed_lateness="90 minutes", emit="corrections"
    ).aggregate(points=F.sum(F.floor("euros")), purchases=F.count("*"))
    return sp.Outputs(days=days, missed=days.late, rejected=sound.rejected)
