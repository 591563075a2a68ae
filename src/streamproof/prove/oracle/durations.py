"""Durations as users write them, read by the oracle itself: it takes nothing from the reader that the job runs with (R28)."""

import re
from datetime import timedelta
from fractions import Fraction

_MICROS = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_NAMES = {
    "microsecond": "us",
    "millisecond": "ms",
    "second": "s",
    "minute": "min",
    "hour": "h",
    "day": "d",
    **{unit: unit for unit in _MICROS},
}
_WORDS = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*")


def micros(written: str | timedelta) -> int:
    """The microseconds of "1 minute 30 seconds", or of a timedelta that a job was given by a module of its own.

    Raises
    ------
    ValueError
        If the text is not numbers with units.
    """
    if isinstance(written, timedelta):
        return written // timedelta(microseconds=1)
    text = written.strip().lower()
    parts = _WORDS.findall(text)
    if not parts or _WORDS.sub("", text):
        raise ValueError(f'"{written}" is not a duration')
    return int(sum(Fraction(number) * _unit(word, written) for number, word in parts))


def _unit(word: str, written: str) -> int:
    name = _NAMES.get(word) or _NAMES.get(word.removesuffix("s"))
    if name is None:
        raise ValueError(f'"{written}" is not a duration: it has the unit "{word}"')
    return _MICROS[name]
