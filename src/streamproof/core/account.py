"""The account: where every (record, window) of a query is."""

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Account:
    """Counts of (input record, window) pairs; without windows, of input records. Each is in exactly one place."""

    emitted: int = 0
    open_state: int = 0
    late: int = 0
    rejected: int = 0
    duplicate: int = 0
    filtered: int = 0

    @property
    def total(self) -> int:
        return sum(getattr(self, place.name) for place in fields(self))

    def as_dict(self) -> dict[str, int]:
        return {place.name: getattr(self, place.name) for place in fields(self)}

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> "Account":
        return cls(**{place.name: counts.get(place.name, 0) for place in fields(cls)})
