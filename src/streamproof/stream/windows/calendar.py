"""Days, weeks and months of a time zone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.names import WINDOW
from streamproof.stream.windows.window import Window, with_end
from streamproof.stream.windows.zone import require_zone

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

UNITS = ("day", "week", "month")
_DAYS = {"day": 1, "week": 7}
_DAY_US = 86_400_000_000


@dataclass(frozen=True)
class Calendar(Window):
    """The days, the weeks (from Monday) or the months of a time zone; each event is in exactly one.

    A day on which clocks change has 23 or 25 hours. It begins at midnight of the zone; where midnight is left out, when clocks go on, and
    where it comes twice, at the first of the two.
    """

    unit: str
    zone: str

    def __str__(self) -> str:
        return f"calendar {self.unit} {self.zone}"

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(self._end_of(event_time)))

    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        return with_end(rows, event_time, self._end_of(event_time))

    def _end_of(self, event_time: str) -> "Column":
        from pyspark.sql import functions as F

        return self._begins(F.col(event_time), 1)

    @property
    def start(self) -> "Column":
        from pyspark.sql import functions as F

        return self._begins(F.timestamp_micros(F.unix_micros(WINDOW) - 1), 0)

    def _begins(self, at: "Column", further: int) -> "Column":
        """When the window of an instant begins, or the one that is so many further on.

        By the date in the zone: days are added on the calendar, not as hours. None of these functions asks for the zone of the session.
        """
        from pyspark.sql import functions as F

        local = F.unix_micros(F.from_utc_timestamp(at, self.zone))
        date = F.date_from_unix_date(F.floor(local / F.lit(_DAY_US)).cast("int"))
        first = date if self.unit == "day" else F.trunc(date, self.unit)
        begun = F.add_months(first, further) if self.unit == "month" else F.date_add(first, _DAYS[self.unit] * further)
        midnight = F.timestamp_micros(F.unix_date(begun).cast("bigint") * F.lit(_DAY_US))
        return F.to_utc_timestamp(midnight, self.zone)


def calendar(unit: str, *, zone: str) -> Calendar:
    """Windows of the calendar, for example `calendar("day", zone="Europe/Berlin")`.

    Parameters
    ----------
    unit
        "day", "week" (from Monday) or "month".
    zone
        A name of the IANA database, such as "Europe/Berlin" or "UTC".

    Raises
    ------
    JobDefinitionError
        If the unit or the zone is not known.
    """
    if unit not in UNITS:
        raise JobDefinitionError(
            f"calendar({unit!r}): no such unit.", required=f"It is {', '.join(map(repr, UNITS[:-1]))} or {UNITS[-1]!r}."
        )
    require_zone(f"calendar({unit!r}, zone={zone!r})", zone)
    return Calendar(unit, zone)
