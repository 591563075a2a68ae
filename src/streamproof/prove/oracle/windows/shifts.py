"""The twin of shifts."""

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from streamproof.core.clock import from_micros, to_micros
from streamproof.prove.oracle.windows.window import PlainWindow

_MINUTE_US, _SECOND_US = 60_000_000, 1_000_000
_DAYS_AROUND = 2


@dataclass(frozen=True)
class PlainShifts(PlainWindow):
    """Windows from one of the times of day to the next, in a zone."""

    times: tuple[str, ...]
    zone: str

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        day = from_micros(instant_us).astimezone(ZoneInfo(self.zone)).date()
        begins = _around(day, self.times, self.zone)
        return [(max(one for one in begins if one <= instant_us), min(one for one in begins if one > instant_us))]

    def last_late(self, bound_us: int, tick_us: int) -> int:
        last = self.assign(bound_us)[0][0] - 1
        return last - last % tick_us

    @property
    def at_least_us(self) -> int:
        minutes = [60 * at.hour + at.minute for at in map(time.fromisoformat, self.times)]
        later = [*minutes[1:], minutes[0] + 24 * 60]
        return min(after - before for before, after in zip(minutes, later, strict=True)) * _MINUTE_US


@lru_cache(maxsize=4096)
def _around(day: date, times: tuple[str, ...], zone: str) -> tuple[int, ...]:
    """The instants at which windows begin on a day and on those beside it."""
    days = [day + timedelta(days=further) for further in range(-_DAYS_AROUND, _DAYS_AROUND + 1)]
    return tuple(_begins(datetime.combine(one, time.fromisoformat(at)), ZoneInfo(zone)) for one in days for at in times)


def _begins(clock: datetime, zone: ZoneInfo) -> int:
    """The first instant at which the clock shows a time; where it is left out, the one at which clocks go on."""
    first, second = (to_micros(clock.replace(tzinfo=zone, fold=fold).astimezone(UTC)) for fold in (0, 1))
    if _clock(first, zone) == clock:
        return first
    # Of a time that is left out, fold=1 lies before the change and fold=0 behind it. Clocks change at whole seconds.
    seconds = range(second // _SECOND_US, first // _SECOND_US + 1)
    return seconds[bisect_left(seconds, True, key=lambda at: _clock(at * _SECOND_US, zone) >= clock)] * _SECOND_US


def _clock(instant_us: int, zone: ZoneInfo) -> datetime:
    return from_micros(instant_us).astimezone(zone).replace(tzinfo=None, fold=0)
