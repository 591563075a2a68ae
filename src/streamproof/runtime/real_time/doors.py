"""The doors of a real-time query: its batches have no clock of their own while they run."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from streamproof.runtime.rows.doors import SideDoors
from streamproof.stream.names import APPENDED


class RealTimeDoors(SideDoors):
    """Takes rows out of the plan as `SideDoors` does."""

    def clock(self) -> Column:
        """The clock of the machine that works on a row (bigint, microseconds): the offset log, which has a batch's own, is written after it."""
        milliseconds = F.reflect(F.lit("java.lang.System"), F.lit("currentTimeMillis"))
        return milliseconds.cast("bigint") * F.lit(1000)

    def aged(self, rows: DataFrame, source: str, event_time: str | None) -> DataFrame:
        """The rows, uncounted: tasks count ages by the batch's own clock, which is written after them."""
        return rows.drop(APPENDED)
