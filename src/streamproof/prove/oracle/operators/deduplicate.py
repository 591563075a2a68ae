"""The twin of deduplication: keys are remembered for as long as the watermark is behind their event time + horizon (R12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.operators.twin import Arriving, Held, State, Step, Twin
from streamproof.prove.oracle.rows import DUPLICATE, LATE, Row
from streamproof.prove.oracle.trace import event_id

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Deduplicate(Twin):
    """One row of each key, whichever comes first; `within_us` is how long a key is remembered behind its event time, microseconds, None for
    the delay of the watermark.
    """

    keeps: ClassVar[bool] = True
    holds: ClassVar[str] = "key"

    key: tuple[str, ...]
    within_us: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Deduplicate":
        within = given.get("within")
        return cls(tuple(given["key"]), None if within is None else micros(within))

    def horizon_us(self, delay_us: int) -> int:
        """How long a key is remembered behind its event time, microseconds."""
        return delay_us if self.within_us is None else self.within_us

    @property
    def columns(self) -> tuple[str, ...]:
        return self.key

    @property
    def once(self) -> tuple[str, ...]:
        return self.key

    def begin(self, delay_us: int) -> State:
        return Remembered(self.key, self.horizon_us(delay_us))


@dataclass
class Remembered(State):
    """What is remembered: each key with its expiry, microseconds UTC.

    `horizon_us` is how long that is behind its event time. `ambiguous` are keys that different events share within one batch: which of them
    stays is not promised.
    """

    key: tuple[str, ...]
    horizon_us: int
    remembered: dict[Key, int] = field(default_factory=dict)
    ambiguous: list[Key] = field(default_factory=list)

    def step(self, *coming: Arriving) -> Step:
        (arriving,) = coming
        late, taken = arriving.parted()
        kept, dropped = self._once(taken)
        self.remembered = {key: expiry for key, expiry in self.remembered.items() if expiry > arriving.watermark_us}
        return Step(kept, {LATE: late, DUPLICATE: dropped})

    def held(self) -> Held:
        return Held(keys=dict(self.remembered), ambiguous=tuple(self.ambiguous))

    def _once(self, rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
        """The rows of a batch whose key is not remembered, and the others."""
        kept: list[Row] = []
        dropped: list[Row] = []
        first: dict[Key, Row] = {}
        for row in rows:
            key = tuple(row.values.get(name) for name in self.key)  # of a join a row may be of one side only
            if key in self.remembered:
                dropped.append(row)
                if key in first and not _interchangeable(first[key], row):
                    self.ambiguous.append(key)
                continue
            self.remembered[key] = (row.time_us or 0) + self.horizon_us
            first[key] = row
            kept.append(row)
        return kept, dropped


def _interchangeable(one: Row, other: Row) -> bool:
    return (_events(one), one.time_us, one.values) == (_events(other), other.time_us, other.values)


def _events(row: Row) -> list[str]:
    return [event_id(trace) for trace in row.traces]
