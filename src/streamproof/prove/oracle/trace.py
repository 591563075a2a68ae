"""Trace ids: which event a record is, and the hash that accounts and windows add up."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import md5

_BETWEEN = "|"


def together(traces: Iterable[str]) -> str:
    """What a row is known by that is of several records: their traces, side by side."""
    return _BETWEEN.join(traces)


def apart(name: str) -> tuple[str, ...]:
    """The traces of the records that a row is of."""
    return tuple(name.split(_BETWEEN))


def events_of(name: str) -> str:
    """What a row is known by where copies of events are like them: the events of its records, side by side."""
    return together(event_id(trace) for trace in apart(name))


def event_id(trace: str) -> str:
    """The event that a record is, or is a copy of: "e-000123" for "e-000123+1"."""
    return trace.partition("+")[0]


def is_further(trace: str) -> bool:
    """Whether it tells apart a row that is of no record for the account: a second one of a record ("e-000123#1"), or one that a timer gives
    ("e-000123!silence@1767603600000000", by the record that has set the timer).
    """
    return "#" in trace or "!" in trace


def record_of(trace: str) -> str:
    """The record that such a row goes back to."""
    return trace.partition("#")[0].partition("!")[0]


@cache
def hash_of(trace: str) -> int:
    """The 40-bit hash of the event id, the same for all copies: the first ten hexadecimal digits of its MD5."""
    return int(md5(event_id(trace).encode(), usedforsecurity=False).hexdigest()[:10], 16)


@dataclass(frozen=True, slots=True)
class Vector:
    """A count and a sum of hashes: one lost and one doubled event do not cancel (R15)."""

    count: int = 0
    hash: int = 0

    def plus(self, other: "Vector") -> "Vector":
        return Vector(self.count + other.count, self.hash + other.hash)

    def minus(self, other: "Vector") -> "Vector":
        return Vector(self.count - other.count, self.hash - other.hash)

    @classmethod
    def of(cls, traces: Iterable[str]) -> "Vector":
        hashes = [hash_of(trace) for trace in traces]
        return cls(len(hashes), sum(hashes))
