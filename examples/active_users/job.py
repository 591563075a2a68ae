"""Active users in the last hour, every minute: hopping windows that overlap sixtyfold."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def active_users(visits: sp.Stream) -> sp.Outputs:
    """Counts the visits of the last hour, and how many users they are of; robots are left out and counted."""
    people = visits.filter("agent <> 'robot'", name="robots")
    active = people.window(sp.hopping("1 hour", every="1 minute"), by="country").aggregate(
        users=F.approx_count_distinct("user"), visits=F.count("*")
    )
    return sp.Outputs(active=active, missed=active.late)
