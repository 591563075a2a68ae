"""Instants that somebody else has told. Spark counts further than Python: what lies beyond the year 9999, or is no instant, is None."""

from contextlib import suppress
from datetime import datetime
from typing import Any

from streamproof.core.clock import from_micros


def instant_at(micros: int) -> datetime | None:
    """The instant so many microseconds after 1970-01-01T00:00:00Z."""
    with suppress(OverflowError, ValueError, OSError):
        return from_micros(micros)
    return None


def instant_in(text: Any) -> datetime | None:
    """The instant that a text says in ISO 8601, as Spark writes it: "2026-01-05T09:01:40.000Z"."""
    with suppress(OverflowError, ValueError, TypeError):
        return datetime.fromisoformat(text)
    return None
