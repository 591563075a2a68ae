"""When a clock of a zone first shows a time: from `zoneinfo`."""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from streamproof.core.clock import from_micros, to_micros

_SECOND_US = 1_000_000


def begins(clock: datetime, zone: ZoneInfo) -> int:
    """The first instant, microseconds UTC, at which the clock shows a time; where it is left out, the one at which clocks go on."""
    first, second = (to_micros(clock.replace(tzinfo=zone, fold=fold).astimezone(UTC)) for fold in (0, 1))
    if shown(first, zone) == clock:
        return first
    # Of a time that is left out, fold=1 lies before the change and fold=0 behind it. Clocks change at whole seconds.
    seconds = range(second // _SECOND_US, first // _SECOND_US + 1)
    return seconds[bisect_left(seconds, True, key=lambda at: shown(at * _SECOND_US, zone) >= clock)] * _SECOND_US


def shown(instant_us: int, zone: ZoneInfo) -> datetime:
    """What the clock shows at an instant."""
    return from_micros(instant_us).astimezone(zone).replace(tzinfo=None, fold=0)


def around(instant_us: int, begun: Iterable[int]) -> tuple[int, int]:
    """The last of these instants up to one, and the first behind it."""
    known = list(begun)
    return max(one for one in known if one <= instant_us), min(one for one in known if one > instant_us)
