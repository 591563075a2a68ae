"""Windows that end when nothing comes for a while."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.core.durations import format_duration, micros_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.names import PIECE, WINDOW
from streamproof.stream.windows.durations import positive_duration
from streamproof.stream.windows.gap import Gap
from streamproof.stream.windows.window import Window

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Session(Window):
    """One window for each run of events of a key, from the first event to `gap` behind the last; events at most that far apart are in one.

    An event is late when its own time + gap is at or below the late bound, even where a session that is still open would have it: that is
    Spark's rule, which can be told from the event alone. Flink asks the merged session instead. Where the gap is that of a column, an event is
    late when its own time is at or below the bound: an event with a long gap could else begin a session at the instant at which one began that
    is written already, and the two rows would have one key and one `window_start`.

    With `longest`, event time is cut at the multiples of it since 1970-01-01T00:00:00Z, and events on the two sides of a cut are never in
    one session. Spark's sessions have no longest length of their own; the piece is a further key, so the order of events does not matter.
    """

    gap: timedelta | Gap
    longest: timedelta | None = None
    needs_key: ClassVar[bool] = True
    before_exchange: ClassVar[Mapping[str, str]] = {"spark.sql.streaming.sessionWindow.merge.sessions.in.local.partition": "true"}

    def __str__(self) -> str:
        cut = "" if self.longest is None else f" cut every {format_duration(self.longest)}"
        return f"session {self.gap if isinstance(self.gap, Gap) else format_duration(self.gap)}{cut}"

    @property
    def own_gap(self) -> Gap | None:
        return self.gap if isinstance(self.gap, Gap) else None

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        if isinstance(self.gap, Gap):
            return doors.late(rows, F.unix_micros(event_time))
        return doors.late(rows, F.unix_micros(event_time) + micros_of(self.gap))

    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        return rows

    def grouped(self, rows: "DataFrame", event_time: str, by: Sequence[str]) -> "GroupedData":
        from pyspark.sql import functions as F

        window = F.session_window(event_time, self._length(rows)).alias(WINDOW)
        if self.longest is None:
            return rows.groupBy(window, *by)
        length = F.lit(micros_of(self.longest))
        piece = (F.unix_micros(event_time) - F.pmod(F.unix_micros(event_time), length)).alias(PIECE)
        return rows.select("*", piece).groupBy(window, *by, PIECE)

    def _length(self, rows: "DataFrame") -> "str | Column":
        """How long a window of one event is, as Spark takes it."""
        from pyspark.sql import functions as F

        if isinstance(self.gap, Gap):
            microsecond = F.make_interval(secs=F.lit("0.000001").cast("decimal(18,6)"))
            return microsecond * self.gap.micros(rows)
        return f"{micros_of(self.gap)} microseconds"

    @property
    def start(self) -> "Column":
        from pyspark.sql import functions as F

        return F.col(f"{WINDOW}.start")

    @property
    def end(self) -> "Column":
        from pyspark.sql import functions as F

        return F.col(f"{WINDOW}.end")


def session(gap: str | Gap, *, longest: str | None = None) -> Session:
    """Session windows, for example `session("30 minutes")`: events of a key that are at most half an hour apart are in one.

    Parameters
    ----------
    gap
        How long a key is quiet before its session ends; or `gap_of(...)`, where each event says it in a column. A session then ends when the
        last of its events' gaps is over.
    longest
        Cuts sessions at fixed instants, the multiples of this duration since 1970 (UTC): the first and the last event of a session are less
        than this apart. A session that crosses such an instant is cut there. None sets no limit: the state of a key that is never quiet grows.

    Raises
    ------
    JobDefinitionError
        If one of them is not a duration, or not longer than zero, or `longest` is not longer than the gap, or the longest that it may be.
    """
    if not isinstance(gap, str | Gap):
        raise JobDefinitionError(
            f"session() got a {type(gap).__name__}.",
            required='A gap is a duration such as "30 minutes", or that of a column: gap_of("idle_seconds", at_most="2 hours").',
        )
    written = gap.call if isinstance(gap, Gap) else repr(gap)
    call = f"session({written})" if longest is None else f"session({written}, longest={longest!r})"
    quiet = gap if isinstance(gap, Gap) else positive_duration(call, gap, "a session needs a gap")
    if longest is None:
        return Session(quiet)
    limit = positive_duration(call, longest, "the longest session is")
    if limit <= (quiet.at_most if isinstance(quiet, Gap) else quiet):
        raise JobDefinitionError(
            f"{call}: the longest session is not longer than the gap.",
            required="Sessions are cut at the multiples of longest; events a gap apart would hardly ever be in one.",
            remedy="Give a longer one, or take sp.tumbling(...) if fixed pieces are what is wanted.",
        )
    return Session(quiet, limit)
