"""The twin of calendar windows."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from streamproof.core.clock import from_micros, to_micros
from streamproof.prove.oracle.windows.window import PlainWindow


@dataclass(frozen=True)
class PlainCalendar(PlainWindow):
    """The days, weeks (from Monday) or months of a zone."""

    unit: str
    zone: str

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        local = from_micros(instant_us).astimezone(ZoneInfo(self.zone)).date()
        first = _first(local, self.unit)
        return [(_midnight(first, self.zone), _midnight(_next(first, self.unit), self.zone))]

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
def _midnight(day: date, zone: str) -> int:
    """The first instant of a day: where midnight is left out, the instant at which the clocks go on."""
    return to_micros(datetime.combine(day, time(), ZoneInfo(zone)).astimezone(UTC))
