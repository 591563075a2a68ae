"""Sessions whose gap is that of a column, by themselves, over rows that are dealt over tasks first, and after a deduplication."""

from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def own_gaps(visits: sp.Stream) -> sp.Outputs:
    """Counts the visits of each user until the gap that the last of them allows is over."""
    counts = {"visits": F.count("*"), "pages": F.sum("page")}
    gap = sp.gap_of("idle_seconds", at_most="20 seconds")
    sessions = visits.window(sp.session(gap, longest="1 minute"), by="user").aggregate(**counts, spread=3)
    once = visits.deduplicate("visit_id").window(sp.session(gap), by="user", allowed_lateness="5 seconds").aggregate(**counts)
    return sp.Outputs(sessions=sessions, sessions_late=sessions.late, once=once, once_late=once.late, rejected=sessions.rejected)
