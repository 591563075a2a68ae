"""What windows of a time zone have in common: which window an instant is in is told by the clock of the zone."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from streamproof.errors import JobDefinitionError
from streamproof.stream.names import WINDOW
from streamproof.stream.windows.window import Window, delay_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof._jvm import ZoneWindows
    from streamproof.stream.doors import Doors


class OfZone(Window):
    """Windows that begin at times of the clock of a zone; each lasts until the next one begins.

    An instant is in the window that has begun last, whatever its own clock shows: where clocks go back across a beginning, what comes again
    is behind it.
    """

    zone: str

    @property
    @abstractmethod
    def begins(self) -> tuple[str, Sequence[int]]:
        """On which days windows begin ("day", "week" or "month"), and at how many minutes behind midnight."""

    def assigned(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The end of the window of each row: a column, so that it is worked out once."""
        from pyspark.sql import functions as F

        return rows.select("*", F.timestamp_micros(self._windows.end_of(F.unix_micros(event_time))).alias(WINDOW))

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(WINDOW))

    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        return rows.withMetadata(WINDOW, delay_of(rows, event_time))

    @property
    def start(self) -> "Column":
        from pyspark.sql import functions as F

        return F.timestamp_micros(self._windows.begin_of(F.unix_micros(WINDOW) - 1))

    @property
    def _windows(self) -> "ZoneWindows":
        from streamproof._jvm import ZoneWindows

        return ZoneWindows(*self.begins, self.zone)


def require_zone(call: str, zone: Any) -> None:
    """JobDefinitionError for what is no name of a time zone; `call` is how the error names where it stands."""
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError) as problem:
        import difflib

        near = difflib.get_close_matches(str(zone), available_timezones(), n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise JobDefinitionError(
            f"{call}: no such time zone.{hint}",
            required='A zone is a name of the IANA database, such as "Europe/Berlin"; an abbreviation such as "CET" has no daylight saving rule of a place.',
        ) from problem
