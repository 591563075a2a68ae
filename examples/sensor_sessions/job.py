"""Runs of a machine, by its sensor: one row for each time that it was on, once it has been quiet for five minutes."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def sensor_sessions(readings: sp.Stream) -> sp.Outputs:
    """Sums what a sensor measured while its machine ran; readings that cannot be are rejected."""
    sound = readings.require(celsius="celsius BETWEEN -60 AND 400", sensor="sensor IS NOT NULL")
    runs = sound.window(sp.session("5 minutes"), by="sensor", allowed_lateness="2 minutes").aggregate(
        readings=F.count("*"), hottest=F.max("celsius"), mean=F.avg("celsius")
    )
    return sp.Outputs(runs=runs, late=runs.late, rejected=sound.rejected)
