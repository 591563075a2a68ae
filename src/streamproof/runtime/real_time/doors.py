"""The doors of a real-time query: its batches have no clock of their own while they run."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from streamproof.runtime.rows.doors import SideDoors


class RealTimeDoors(SideDoors):
    """Takes rows out of the plan as `SideDoors` does."""

    def clock(self) -> Column:
        """The clock of the machine that works on a row (bigint, microseconds): the offset log, which has a batch's own, is written after it."""
        milliseconds = F.reflect(F.lit("java.lang.System"), F.lit("currentTimeMillis"))
        return milliseconds.cast("bigint") * F.lit(1000)
