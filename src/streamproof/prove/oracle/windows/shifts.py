"""The twin of shifts."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from streamproof.prove.oracle.windows.window import PlainWindow
from streamproof.prove.oracle.windows.zone import around, begins, shown

_MINUTE_US = 60_000_000
_DAYS_AROUND = 2


@dataclass(frozen=True)
class PlainShifts(PlainWindow):
    """Windows from one of the times of day to the next, in a zone."""

    times: tuple[str, ...]
    zone: str

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        day = shown(instant_us, ZoneInfo(self.zone)).date()
        return [around(instant_us, _of_days(day, self.times, self.zone))]

    def last_late(self, bound_us: int, tick_us: int) -> int:
        last = self.assign(bound_us)[0][0] - 1
        return last - last % tick_us

    @property
    def at_least_us(self) -> int:
        minutes = [60 * at.hour + at.minute for at in map(time.fromisoformat, self.times)]
        later = [*minutes[1:], minutes[0] + 24 * 60]
        return min(after - before for before, after in zip(minutes, later, strict=True)) * _MINUTE_US


@lru_cache(maxsize=4096)
def _of_days(day: date, times: tuple[str, ...], zone: str) -> tuple[int, ...]:
    """The instants at which windows begin on a day and on those beside it."""
    days = [day + timedelta(days=further) for further in range(-_DAYS_AROUND, _DAYS_AROUND + 1)]
    return tuple(begins(datetime.combine(one, time.fromisoformat(at)), ZoneInfo(zone)) for one in days for at in times)
