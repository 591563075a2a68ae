"""Windows that begin at times of day of a time zone."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.names import WINDOW
from streamproof.stream.windows.window import Window, with_end
from streamproof.stream.windows.zone import require_zone

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

MOST = 48
"""As many times a day may have: each is one more case in the plan of every row."""
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_DAY_US, _MINUTE_US, _SECOND_US = 86_400_000_000, 60_000_000, 1_000_000
_HALVES = tuple(_SECOND_US << power for power in reversed(range(17)))
"""Steps of seconds that add up to more than a day, the longest that clocks go on by."""


@dataclass(frozen=True)
class Shifts(Window):
    """Windows that begin at times of day of a zone, every day; each lasts until the next one begins.

    A time that a day does not have, since clocks go on, begins when they go on; one that comes twice begins at its first. So a window is told
    by instants, not by the clock of its events: when clocks go back from three to two, the second half past two is behind the first.
    """

    times: tuple[str, ...]
    zone: str

    def __str__(self) -> str:
        return f"shifts {' '.join(self.times)} {self.zone}"

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return doors.late(rows, self._end_of(event_time))

    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        from pyspark.sql import functions as F

        return with_end(rows, event_time, F.timestamp_micros(self._end_of(event_time)))

    def _end_of(self, event_time: str) -> "Column":
        """The first beginning behind an instant (bigint, microseconds).

        That of the next time on the clock, unless clocks have gone back: then it may lie before the instant.
        """
        from pyspark.sql import functions as F

        at = F.unix_micros(event_time)
        clock = _shown(at, self.zone)
        following = _begins(self._next(clock), self.zone)
        return F.when(following > at, following).otherwise(F.array_min(F.filter(self._around(clock), lambda begun: begun > at)))

    @property
    def start(self) -> "Column":
        """The last beginning before the end of a window."""
        from pyspark.sql import functions as F

        end = F.unix_micros(WINDOW)
        clock = _shown(end - 1, self.zone)
        usual = _begins(self._next(clock), self.zone) == end
        last = F.array_max(F.filter(self._around(clock), lambda begun: begun < end))
        return F.timestamp_micros(F.when(usual, _begins(self._last(clock), self.zone)).otherwise(last))

    def _next(self, clock: "Column") -> "Column":
        """The first of the times behind one on the clock; all of them bigint, microseconds."""
        from pyspark.sql import functions as F

        midnight, since = _day_of(clock)
        return midnight + F.coalesce(
            *[F.when(since < time, _micros(time)) for time in self._of_day(0)], _micros(self._of_day(1)[0])
        )

    def _last(self, clock: "Column") -> "Column":
        """The last of the times up to one on the clock."""
        from pyspark.sql import functions as F

        midnight, since = _day_of(clock)
        times = self._of_day(0)[::-1]
        return midnight + F.coalesce(*[F.when(since >= time, _micros(time)) for time in times], _micros(self._of_day(-1)[-1]))

    def _around(self, clock: "Column") -> "Column":
        """When the times begin from the last one of the day before on (array). Clocks go back by less than a day: no further one is asked for."""
        from pyspark.sql import functions as F

        midnight, _ = _day_of(clock)
        times = [*self._of_day(-1)[-1:], *self._of_day(0), *self._of_day(1), *self._of_day(2)[:1]]
        return F.transform(F.array(*map(_micros, times)), lambda time: _begins(midnight + time, self.zone))

    def _of_day(self, further: int) -> list[int]:
        """The times of a day so many days on, microseconds behind midnight on the clock."""
        return [further * _DAY_US + _minutes(time) * _MINUTE_US for time in self.times]


def _day_of(clock: "Column") -> "tuple[Column, Column]":
    """Midnight on the clock, and how long ago that is."""
    from pyspark.sql import functions as F

    since = F.pmod(clock, _micros(_DAY_US))
    return clock - since, since


def _micros(number: int) -> "Column":
    from pyspark.sql import functions as F

    return F.lit(number).cast("bigint")


def _begins(clock: "Column", zone: str) -> "Column":
    """The first instant at which a clock of the zone shows a time or a later one; all of them bigint, microseconds.

    Spark moves a time that is left out on by as much as the clocks go on. The instant at which they do so is found by halving: it is a
    whole second, and the clock shows less before it.
    """
    from pyspark.sql import functions as F

    moved = F.unix_micros(F.to_utc_timestamp(F.timestamp_micros(clock), zone))
    by = _shown(moved, zone) - clock
    steps = F.array(*map(_micros, _HALVES))
    before = F.aggregate(
        steps, moved - by, lambda found, step: F.when(_shown(found + step, zone) < clock, found + step).otherwise(found)
    )
    return F.when(by == 0, moved).otherwise(before + _SECOND_US)


def _shown(instant: "Column", zone: str) -> "Column":
    """What a clock of the zone shows at an instant, as if it were UTC (both bigint, microseconds)."""
    from pyspark.sql import functions as F

    return F.unix_micros(F.from_utc_timestamp(F.timestamp_micros(instant), zone))


def _minutes(time: str) -> int:
    return int(time[:2]) * 60 + int(time[3:])


def shifts(*times: str, zone: str | None = None) -> Shifts:
    """Shifts, for example `shifts("06:00", "14:00", "22:00", zone="Europe/Berlin")`: the last one lasts until six of the next day.

    Parameters
    ----------
    times
        When windows begin, as "HH:MM" from "00:00" to "23:59", from early to late. One alone makes days that begin at this time.
    zone
        A name of the IANA database, such as "Europe/Berlin" or "UTC". It must be given.

    Raises
    ------
    JobDefinitionError
        If there is no time, one is none, stands there twice or behind a later one, there are more than 48, or the zone is not known.
    """
    said = ", ".join([*map(repr, times), *([] if zone is None else [f"zone={zone!r}"])])
    call = f"shifts({said})"
    example = 'For example: sp.shifts("06:00", "14:00", "22:00", zone="Europe/Berlin").'
    if not times:
        raise JobDefinitionError(
            f"{call}: no time is given.", required="It takes the times of day at which windows begin.", remedy=example
        )
    for time in times:
        if not isinstance(time, str) or not _TIME.fullmatch(time):
            found = f'"{time}"' if isinstance(time, str) else f"a {type(time).__name__}"
            raise JobDefinitionError(
                f"{call}: {found} is no time of day.", required='A time is a text "HH:MM", from "00:00" to "23:59".'
            )
    twice = next((time for time in times if times.count(time) > 1), None)
    if twice is not None:
        raise JobDefinitionError(
            f'{call}: "{twice}" stands there twice.', required="Each time begins one window.", remedy="Leave one out."
        )
    for earlier, later in pairwise(times):
        if later < earlier:
            raise JobDefinitionError(
                f'{call}: "{later}" stands behind "{earlier}".',
                required="Times stand from early to late in the day; the last window lasts until the first time of the next day.",
                remedy=f"Write them in this order: {', '.join(map(repr, sorted(times)))}.",
            )
    if len(times) > MOST:
        raise JobDefinitionError(
            f"{call}: {len(times)} times.",
            required=f"At most {MOST}: each is one more case in the plan of every row.",
            remedy='Where windows are all of one size, take sp.tumbling("15 minutes").',
        )
    if zone is None:
        raise JobDefinitionError(f"{call} has no zone.", required="A time of day is that of a zone.", remedy=example)
    require_zone(call, zone)
    return Shifts(times, zone)
