"""Days, weeks and months of a time zone."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamproof.errors import JobDefinitionError
from streamproof.stream.windows.zone import OfZone, require_zone

UNITS = ("day", "week", "month")


@dataclass(frozen=True)
class Calendar(OfZone):
    """The days, the weeks (from Monday) or the months of a time zone; each event is in exactly one.

    A day on which clocks change has 23 or 25 hours. It begins at midnight of the zone; where midnight is left out, when clocks go on, and
    where it comes twice, at the first of the two.
    """

    unit: str
    zone: str

    def __str__(self) -> str:
        return f"calendar {self.unit} {self.zone}"

    @property
    def begins(self) -> tuple[str, Sequence[int]]:
        return self.unit, (0,)


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
