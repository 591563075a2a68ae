"""Windows that end when nothing comes for a while."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.core.durations import format_duration, micros_of
from streamproof.stream.names import WINDOW
from streamproof.stream.windows.window import Window, positive_duration

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Session(Window):
    """One window for each run of events of a key, from the first event to `gap` behind the last; events at most that far apart are in one.

    An event is late when its own time + gap is at or below the late bound, even where a session that is still open would have it: that is
    Spark's rule, which can be told from the event alone. Flink asks the merged session instead.
    """

    gap: timedelta
    needs_key: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"session {format_duration(self.gap)}"

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(event_time) + micros_of(self.gap))

    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        return rows

    def grouped(self, rows: "DataFrame", event_time: str, by: Sequence[str]) -> "GroupedData":
        from pyspark.sql import functions as F

        return rows.groupBy(F.session_window(event_time, f"{micros_of(self.gap)} microseconds").alias(WINDOW), *by)

    @property
    def start(self) -> "Column":
        from pyspark.sql import functions as F

        return F.col(f"{WINDOW}.start")

    @property
    def end(self) -> "Column":
        from pyspark.sql import functions as F

        return F.col(f"{WINDOW}.end")


def session(gap: str) -> Session:
    """Session windows, for example `session("30 minutes")`: events of a key that are at most half an hour apart are in one.

    Raises
    ------
    JobDefinitionError
        If the gap is not a duration or not longer than zero.
    """
    return Session(positive_duration(f"session({gap!r})", gap, "a session needs a gap"))
