"""A window gives its row when it is on time, and another one in every batch that changes it afterwards, until its lateness is over."""

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.core.durations import micros_of
from streamproof.stream.emissions.emission import Emission
from streamproof.stream.names import WINDOW

if TYPE_CHECKING:
    from pyspark.sql import Column

    from streamproof.stream.doors import Doors


class Corrections(Emission):
    """`emit="corrections"`: a window is on time once watermark + allowed lateness reaches its end.

    Spark gives a changed window in the batch that has changed it, and nothing when it is on time. Rows that are not due wait beside the
    checkpoint (parked) until their window is on time.
    """

    name: ClassVar[str] = "corrections"
    parks: ClassVar[bool] = True

    def gives(self, lateness: timedelta, doors: "Doors") -> "Column":
        """Whether the window has been on time before this batch."""
        from pyspark.sql import functions as F

        return F.unix_micros(WINDOW) - F.lit(micros_of(lateness)) < doors.bound()

    def emitted_up_to(self, watermark_us: int, lateness_us: int) -> int | None:
        return watermark_us + lateness_us
