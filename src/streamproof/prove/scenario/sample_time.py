"""Which columns of a sample look like event time, and which like the id of an event."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from streamproof.core.clock import to_micros
from streamproof.prove.scenario.sample_types import date_in, instant_in

MICROS_PER = {
    "seconds": Fraction(10**6),
    "milliseconds": Fraction(10**3),
    "microseconds": Fraction(1),
    "nanoseconds": Fraction(1, 1000),
}
_TICKS_PER_SECOND = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
_FROM_S, _TO_S = 946_684_800, 4_102_444_800  # the years 2000 to 2100
_MOST = 0.95
"""So large a part of the values must read as a time: a few may be broken."""
AT_LEAST = 0.6
"""So large a part of them must, where no column has more and its name speaks of time: the others are written in another way."""
_PRESENT = 0.5
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BY_NAME = {"ts", "time", "timestamp", "datetime", "eventtime", "eventts", "eventtimestamp", "occurredat", "happenedat"}
_TIME_WORDS = {"ts", "time", "timestamp", "datetime", "occurred", "happened"}
_DAY_WORDS = {"at", "on", "date", "day", "when", "epoch", "created", "updated", "millis", "ms"}
_NO_EVENT_WORDS = {"birth", "birthday", "dob", "due", "expires", "expiry", "until"}
_MOST_DIFFERENT = 0.8
"""So large a part of the values of an id must be different: the others are copies."""
_SOMEBODY = {
    "user",
    "customer",
    "client",
    "account",
    "device",
    "session",
    "merchant",
    "product",
    "item",
    "store",
    "shop",
    "card",
    "host",
}
_ID_WORDS = {"id", "uuid", "guid", "key", "number", "no", "nr"}


@dataclass(frozen=True)
class TimeColumn:
    """A column that looks like event time.

    Parameters
    ----------
    unit
        What a number counts since 1970: seconds, milliseconds, microseconds or nanoseconds; None for timestamps, dates and texts.
    """

    name: str
    unit: str | None


def time_columns_of(columns: Mapping[str, Sequence[Any]]) -> list[TimeColumn]:
    """As `time_columns`; where there is none, the named columns that hold times written in several ways."""
    found = time_columns(columns)
    return found or [one for one in time_columns(columns, most=AT_LEAST) if _named(one.name) > 0]


@dataclass(frozen=True)
class _Candidate:
    column: TimeColumn
    day_only: bool
    named: int


def time_columns(columns: Mapping[str, Sequence[Any]], *, most: float = _MOST) -> list[TimeColumn]:
    """The columns that look like event time, the likeliest first; a number only where its name speaks of time too.

    Parameters
    ----------
    columns
        The values of each column.
    most
        So large a part of the values must be times, all written in one way.
    """
    found = [candidate for name, values in columns.items() if (candidate := _candidate(name, values, most)) is not None]
    return [one.column for one in sorted(found, key=lambda one: (one.day_only, -one.named))]


def id_column(columns: Mapping[str, Sequence[Any]], times: Sequence[TimeColumn]) -> str | None:
    """The column that says which event a record is: texts or whole numbers that are nearly all there and nearly all different.

    A few are repeated where records come twice. A column whose name speaks of an id goes first, then that of an event before that of somebody
    else; a column with another name must be all different, or a text that nearly is.
    """
    of_time = {time.name for time in times}
    found = {
        name: (not named, _of_another(name), -round(share, 2), not isinstance(_first(values), str))
        for name, values in columns.items()
        if name not in of_time
        for named in [is_named_as_id(name)]
        for share in [_different(values)]
        if share == 1 or (share >= _MOST_DIFFERENT and named) or (share >= _MOST and isinstance(_first(values), str))
    }
    return min(found, key=lambda name: found[name], default=None)


def is_named_as_id(name: str) -> bool:
    """Whether the name of a column speaks of an id."""
    return bool(_ID_WORDS & set(_words(name)))


def instant_us(value: Any, unit: str | None) -> int | None:
    """The event time in microseconds since 1970, UTC; None where the value is none, or says none.

    A number without a unit is taken by its size.
    """
    match value:
        case None | bool():
            return None
        case datetime():
            return to_micros(value if value.tzinfo else value.replace(tzinfo=UTC))
        case date():
            return to_micros(datetime(value.year, value.month, value.day, tzinfo=UTC))
        case str():
            instant = instant_in(value)
            return None if instant is None else to_micros(instant)
        case int() | float() | Decimal():
            unit = unit or unit_of(value)
            return None if unit is None or not math.isfinite(value) else int(Fraction(value) * MICROS_PER[unit])
        case _:
            return None


def _candidate(name: str, values: Sequence[Any], most: float) -> _Candidate | None:
    there = [value for value in values if value is not None]
    named = _named(name)
    if not there or len(there) < _PRESENT * len(values) or named < 0:
        return None
    if _mostly(most, there, lambda value: isinstance(value, datetime)):
        return _Candidate(TimeColumn(name, None), False, named)
    if _mostly(most, there, lambda value: isinstance(value, date) or (isinstance(value, str) and date_in(value) is not None)):
        return _Candidate(TimeColumn(name, None), True, named) if named else None
    if _mostly(most, there, lambda value: isinstance(value, str) and instant_in(value) is not None):
        return _Candidate(TimeColumn(name, None), False, named)
    unit = _usual_unit(there) if named and not _ID_WORDS & set(_words(name)) else None
    if unit is not None and _mostly(most, there, lambda value: unit_of(value) == unit):
        return _Candidate(TimeColumn(name, unit), False, named)
    return None


def _mostly(most: float, values: Sequence[Any], holds: Callable[[Any], bool]) -> bool:
    return sum(map(holds, values)) >= most * len(values)


def _usual_unit(values: Sequence[Any]) -> str | None:
    """The unit of most of the numbers: the first one may be broken."""
    units = Counter(map(unit_of, values)).most_common(1)
    return units[0][0] if units else None


def unit_of(value: Any) -> str | None:
    """The unit in which the number is an instant of the years 2000 to 2100; the ranges do not overlap."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return None
    for unit, scale in _TICKS_PER_SECOND.items():
        if _FROM_S * scale <= value < _TO_S * scale:
            return unit
    return None


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def _named(name: str) -> int:
    """How much the name speaks of the time of an event: 3 to 0, -1 for another time, such as a birthday."""
    words = _words(name)
    if _NO_EVENT_WORDS & set(words):
        return -1
    if "".join(words) in _BY_NAME:
        return 3
    return 2 if _TIME_WORDS & set(words) else 1 if _DAY_WORDS & set(words) else 0


def _different(values: Sequence[Any]) -> float:
    """The share of the values that are different; 0 where they are no ids, or too many are missing."""
    there = [value for value in values if value is not None]
    if not there or len(there) < _MOST * len(values):
        return 0.0
    if not all(isinstance(value, str | int) and not isinstance(value, bool) for value in there):
        return 0.0
    return len(set(there)) / len(there) if len(there) == len(values) else min(len(set(there)) / len(there), 0.99)


def _of_another(name: str) -> bool:
    """Whether the name is of somebody who has many events."""
    return bool(_SOMEBODY & set(_words(name)))


def _first(values: Sequence[Any]) -> Any:
    return next((value for value in values if value is not None), None)
