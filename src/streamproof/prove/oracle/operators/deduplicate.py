"""The twin of deduplication: keys are remembered for as long as the watermark is behind their event time + horizon (R12)."""

from dataclasses import dataclass, field
from typing import Any

from streamproof.prove.oracle.arrived import Arrived
from streamproof.prove.oracle.trace import event_id

Key = tuple[Any, ...]


@dataclass
class Deduplication:
    """What is remembered: each key with its expiry, microseconds UTC.

    `horizon_us` is how long that is behind its event time. `ambiguous` are keys that different events share within one batch: which of them
    stays is not promised.
    """

    horizon_us: int
    remembered: dict[Key, int] = field(default_factory=dict)
    ambiguous: list[Key] = field(default_factory=list)

    def once(self, records: list[Arrived]) -> tuple[list[Arrived], tuple[str, ...]]:
        """The records of a batch whose key is not remembered, and the event ids of the others."""
        kept: list[Arrived] = []
        duplicates: list[str] = []
        first: dict[Key, Arrived] = {}
        for record in records:
            key = record.dedup or ()
            if key in self.remembered:
                duplicates.append(event_id(record.trace))
                if key in first and not _interchangeable(first[key], record):
                    self.ambiguous.append(key)
                continue
            self.remembered[key] = (record.time_us or 0) + self.horizon_us
            first[key] = record
            kept.append(record)
        return kept, tuple(duplicates)

    def forget(self, watermark_us: int) -> None:
        self.remembered = {key: expiry for key, expiry in self.remembered.items() if expiry > watermark_us}


def _interchangeable(one: Arrived, other: Arrived) -> bool:
    return (event_id(one.trace), one.time_us, one.by) == (event_id(other.trace), other.time_us, other.by)
