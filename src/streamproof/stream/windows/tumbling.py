"""Windows of one size, side by side."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from streamproof.core.durations import format_duration, micros_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.names import WINDOW
from streamproof.stream.windows.durations import duration_of, positive_duration
from streamproof.stream.windows.window import Window, with_end

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Tumbling(Window):
    """Windows of one size, side by side; each event is in exactly one.

    They are aligned to 1970-01-01T00:00:00Z, or to `offset` behind it, as in Spark's `window` function.
    """

    size: timedelta
    offset: timedelta = timedelta()

    def __str__(self) -> str:
        return f"tumbling {format_duration(self.size)}" + (f" offset {format_duration(self.offset)}" if self.offset else "")

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        if self.offset:
            return doors.late(rows, F.unix_micros(self._end_of(event_time)))
        return doors.late(rows, F.unix_micros(event_time), micros_of(self.size))

    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        return with_end(rows, event_time, self._end_of(event_time))

    def _end_of(self, event_time: str) -> "Column":
        from pyspark.sql import functions as F

        size, offset = micros_of(self.size), micros_of(self.offset)
        at = F.unix_micros(event_time)
        return F.timestamp_micros(at - F.pmod(at - offset if offset else at, F.lit(size)) + size)

    @property
    def start(self) -> "Column":
        from pyspark.sql import functions as F

        return F.timestamp_micros(F.unix_micros(WINDOW) - micros_of(self.size))


def tumbling(size: str, *, offset: str = "0 seconds") -> Tumbling:
    """Tumbling windows of the given size, for example `tumbling("30 seconds")`.

    Parameters
    ----------
    offset
        Where the first window begins behind 1970-01-01T00:00:00Z: `tumbling("1 day", offset="6 hours")` cuts at six in the morning, UTC.

    Raises
    ------
    JobDefinitionError
        If a text is not a duration, the size is not longer than zero, or the offset not shorter than the size.
    """
    call = f"tumbling({size!r})"
    found, behind = positive_duration(call, size), duration_of(f"tumbling({size!r}, offset={offset!r})", offset)
    if behind >= found:
        raise JobDefinitionError(
            f"tumbling({size!r}, offset={offset!r}): the offset is not shorter than the size.",
            required="An offset says where within a size windows begin.",
        )
    return Tumbling(found, behind)
