"""Windows of one size that begin more often than they end: they overlap."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.core.durations import format_duration, micros_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.names import WINDOW
from streamproof.stream.windows.durations import duration_of, positive_duration
from streamproof.stream.windows.window import Window, delay_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

_BOUNDS = ("window_start", "window_end")
MOST = 1_000
"""As many windows an event may lie in: each makes a row of it."""


@dataclass(frozen=True)
class Hopping(Window):
    """Windows of one size, one beginning at every hop; an event is in about size / every of them.

    They are aligned to 1970-01-01T00:00:00Z, or to `offset` behind it. A record counts once for each of its windows, in the account too,
    and comes late to each of them by itself.
    """

    size: timedelta
    every: timedelta
    offset: timedelta = timedelta()
    several: ClassVar[bool] = True

    def __str__(self) -> str:
        shift = f" offset {format_duration(self.offset)}" if self.offset else ""
        return f"hopping {format_duration(self.size)} every {format_duration(self.every)}{shift}"

    def assigned(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        taken = next((name for name in rows.columns if name.lower() in _BOUNDS), None)
        if taken is not None:
            raise JobDefinitionError(
                f'window(hopping(...)) on rows that have a column "{taken}" already.',
                required="Where windows overlap, a late row gets window_start and window_end of the window that it is late for.",
                remedy=f'Rename it before deduplicate() and the window: transform(lambda rows: rows.withColumnRenamed("{taken}", "earlier_{taken}")).',
            )
        texts = [f"{micros_of(part)} microseconds" for part in (self.size, self.every, self.offset)]
        # A filter on the window itself would let Spark expand rows a second time: its end is a column before anything asks for it (R11).
        pairs = rows.select("*", F.window(event_time, *texts).alias(WINDOW)).withColumn(WINDOW, F.col(f"{WINDOW}.end"))
        begins = F.unix_micros(WINDOW) - micros_of(self.size)
        return doors.expanded(pairs, begins + micros_of(self.every) <= F.unix_micros(event_time))

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(WINDOW), window=(self.start, F.col(WINDOW)))

    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        return rows.withMetadata(WINDOW, delay_of(rows, event_time))

    @property
    def start(self) -> "Column":
        from pyspark.sql import functions as F

        return F.timestamp_micros(F.unix_micros(WINDOW) - micros_of(self.size))


def hopping(size: str, *, every: str, offset: str = "0 seconds") -> Hopping:
    """Hopping windows, for example `hopping("10 minutes", every="1 minute")`: the last ten minutes, every minute.

    Parameters
    ----------
    every
        How far apart windows begin; at most the size, or events would fall between windows.
    offset
        Where the first window begins behind 1970-01-01T00:00:00Z.

    Raises
    ------
    JobDefinitionError
        If a text is not a duration, `every` is zero or longer than the size, an event would lie in more than 1,000 windows, or the
        offset is not shorter than `every`.
    """
    call = f"hopping({size!r}, every={every!r})"
    found, hop = positive_duration(call, size), positive_duration(call, every, "windows need a hop")
    if hop > found:
        raise JobDefinitionError(
            f"{call}: every is longer than the size.",
            required="Events between two windows would be in none, and in no place of the account.",
            remedy="Make every at most the size; to leave events out, use filter(condition, name=...).",
        )
    if found / hop > MOST:
        raise JobDefinitionError(
            f"{call}: an event would be in {int(found / hop):,} windows.",
            required=f"At most {MOST:,}: each of them makes a row of every event.",
            remedy="Make every longer.",
        )
    behind = duration_of(f"hopping({size!r}, every={every!r}, offset={offset!r})", offset)
    if behind >= hop:
        raise JobDefinitionError(f"{call}: the offset {offset!r} is not shorter than every.")
    return Hopping(found, hop, behind)
