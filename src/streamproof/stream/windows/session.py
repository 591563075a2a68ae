"""Windows that end when nothing comes for a while."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.core.durations import format_duration, micros_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.names import PIECE, WINDOW
from streamproof.stream.windows.window import Window, positive_duration

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Session(Window):
    """One window for each run of events of a key, from the first event to `gap` behind the last; events at most that far apart are in one.

    An event is late when its own time + gap is at or below the late bound, even where a session that is still open would have it: that is
    Spark's rule, which can be told from the event alone. Flink asks the merged session instead.

    With `longest`, event time is cut at the multiples of it since 1970-01-01T00:00:00Z, and events on the two sides of a cut are never in
    one session. Spark's sessions have no longest length of their own; the piece is a further key, so the order of events does not matter.
    """

    gap: timedelta
    longest: timedelta | None = None
    needs_key: ClassVar[bool] = True

    def __str__(self) -> str:
        cut = "" if self.longest is None else f" cut every {format_duration(self.longest)}"
        return f"session {format_duration(self.gap)}{cut}"

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(event_time) + micros_of(self.gap))

    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        return rows

    def grouped(self, rows: "DataFrame", event_time: str, by: Sequence[str]) -> "GroupedData":
        from pyspark.sql import functions as F

        window = F.session_window(event_time, f"{micros_of(self.gap)} microseconds").alias(WINDOW)
        if self.longest is None:
            return rows.groupBy(window, *by)
        length = F.lit(micros_of(self.longest))
        piece = (F.unix_micros(event_time) - F.pmod(F.unix_micros(event_time), length)).alias(PIECE)
        return rows.select("*", piece).groupBy(window, *by, PIECE)

    @property
    def start(self) -> "Column":
        from pyspark.sql import functions as F

        return F.col(f"{WINDOW}.start")

    @property
    def end(self) -> "Column":
        from pyspark.sql import functions as F

        return F.col(f"{WINDOW}.end")


def session(gap: str, *, longest: str | None = None) -> Session:
    """Session windows, for example `session("30 minutes")`: events of a key that are at most half an hour apart are in one.

    Parameters
    ----------
    gap
        How long a key is quiet before its session ends.
    longest
        Cuts sessions at fixed instants, the multiples of this duration since 1970 (UTC): the first and the last event of a session are less
        than this apart. A session that crosses such an instant is cut there. None sets no limit: the state of a key that is never quiet grows.

    Raises
    ------
    JobDefinitionError
        If one of them is not a duration, or not longer than zero, or `longest` is not longer than the gap.
    """
    call = f"session({gap!r})" if longest is None else f"session({gap!r}, longest={longest!r})"
    quiet = positive_duration(call, gap, "a session needs a gap")
    if longest is None:
        return Session(quiet)
    limit = positive_duration(call, longest, "the longest session is")
    if limit <= quiet:
        raise JobDefinitionError(
            f"{call}: the longest session is not longer than the gap.",
            required="Sessions are cut at the multiples of longest; events a gap apart would hardly ever be in one.",
            remedy="Give a longer one, or take sp.tumbling(...) if fixed pieces are what is wanted.",
        )
    return Session(quiet, limit)
