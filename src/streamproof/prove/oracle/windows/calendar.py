"""The twin of calendar windows."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from streamproof.prove.oracle.windows.window import PlainWindow
from streamproof.prove.oracle.windows.zone import around, begins, shown


@dataclass(frozen=True)
class PlainCalendar(PlainWindow):
    """The days, weeks (from Monday) or months of a zone."""

    unit: str
    zone: str

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        day = shown(instant_us, ZoneInfo(self.zone)).date()
        return [around(instant_us, _midnights(_first(day, self.unit), self.unit, self.zone))]

    def last_late(self, bound_us: int, tick_us: int) -> int:
        last = self.assign(bound_us)[0][0] - 1
        return last - last % tick_us


def _first(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day


def _next(first: date, unit: str) -> date:
    if unit == "month":
        return (first + timedelta(days=31)).replace(day=1)
    return first + timedelta(days=7 if unit == "week" else 1)


@lru_cache(maxsize=4096)
def _midnights(first: date, unit: str, zone: str) -> tuple[int, ...]:
    """When the windows around one begin: clocks that go back across midnight show the date before again."""
    found = [_first(first - timedelta(days=1), unit), first]
    for _ in range(2):
        found.append(_next(found[-1], unit))
    return tuple(begins(datetime.combine(day, time()), ZoneInfo(zone)) for day in found)
