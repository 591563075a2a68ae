"""Wall clocks: the only module that may ask the machine for the time."""

import time
from datetime import UTC, datetime

LAST_MICROS = 253_402_300_799_999_999
"""9999-12-31T23:59:59.999999Z, the last instant that Spark can print."""


def now_utc() -> datetime:
    """The present instant in UTC."""
    return datetime.now(tz=UTC)


def monotonic_seconds() -> float:
    """Seconds on a clock that never goes back; for measuring how long something took."""
    return time.monotonic()


def to_micros(instant: datetime) -> int:
    """Microseconds since 1970-01-01T00:00:00Z of an aware datetime, exactly."""
    delta = instant - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def from_micros(micros: int) -> datetime:
    """The aware UTC datetime of microseconds since 1970-01-01T00:00:00Z."""
    seconds, rest = divmod(micros, 1_000_000)
    return datetime.fromtimestamp(seconds, tz=UTC).replace(microsecond=rest)
