"""Durations as people write them: "10 seconds", "1 minute 30 seconds", "500 ms"."""

import re
from datetime import timedelta

_UNITS = {
    "microsecond": timedelta(microseconds=1),
    "us": timedelta(microseconds=1),
    "millisecond": timedelta(milliseconds=1),
    "ms": timedelta(milliseconds=1),
    "second": timedelta(seconds=1),
    "s": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "min": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "h": timedelta(hours=1),
    "day": timedelta(days=1),
    "d": timedelta(days=1),
}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*,?")


def parse_duration(text: str) -> timedelta:
    """The duration that `text` writes, for example "10 seconds" or "1 minute 30 seconds".

    Raises
    ------
    ValueError
        If it is no text, or not a number and a unit, once or several times. The message says what is accepted.
    """
    if not isinstance(text, str):
        raise ValueError(f'{text!r} is not a duration; write a text with a number and a unit, such as "10 seconds"')
    position, total, lowered = 0, timedelta(), text.strip().lower()
    while position < len(lowered):
        part = _PART.match(lowered, position)
        unit = _unit(part.group(2)) if part else None
        if part is None or unit is None:
            raise ValueError(
                f'"{text}" is not a duration; write a number and a unit, such as "10 seconds", "5 minutes" or "1 hour"'
            )
        try:
            total += float(part.group(1)) * unit
        except OverflowError:
            raise ValueError(f'"{text}" is longer than any duration can be') from None
        position = part.end()
    if not lowered:
        raise ValueError('an empty text is not a duration; write a number and a unit, such as "10 seconds"')
    return total


def format_duration(duration: timedelta) -> str:
    """The duration in words: timedelta(seconds=90) is "1 minute 30 seconds"."""
    micros = micros_of(duration)
    if micros == 0:
        return "0 seconds"
    parts = []
    for name, size in (
        ("day", 86_400_000_000),
        ("hour", 3_600_000_000),
        ("minute", 60_000_000),
        ("second", 1_000_000),
        ("millisecond", 1_000),
        ("microsecond", 1),
    ):
        count, micros = divmod(micros, size)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(parts)


def micros_of(duration: timedelta) -> int:
    """The duration in whole microseconds."""
    return (duration.days * 86_400 + duration.seconds) * 1_000_000 + duration.microseconds


def _unit(word: str) -> timedelta | None:
    return _UNITS.get(word) or _UNITS.get(word.removesuffix("s"))
