"""Windows that begin at times of day of a time zone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from streamproof.errors import JobDefinitionError
from streamproof.stream.windows.zone import OfZone, require_zone

_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


@dataclass(frozen=True)
class Shifts(OfZone):
    """Windows that begin at times of day of a zone, every day; each lasts until the next one begins.

    A time that a day does not have, since clocks go on, begins when they go on; one that comes twice begins at its first. So a window is told
    by instants, not by the clock of its events: when clocks go back from three to two, the second half past two is behind the first.
    """

    times: tuple[str, ...]
    zone: str

    def __str__(self) -> str:
        return f"shifts {' '.join(self.times)} {self.zone}"

    @property
    def begins(self) -> tuple[str, Sequence[int]]:
        return "day", tuple(map(_minutes, self.times))


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
        If there is no time, one is none, stands there twice or behind a later one, or the zone is not known.
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
    if zone is None:
        raise JobDefinitionError(f"{call} has no zone.", required="A time of day is that of a zone.", remedy=example)
    require_zone(call, zone)
    return Shifts(times, zone)
