"""The twin of the newest row: a row goes on where it is above what its key has seen, as long as that is remembered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.operators.twin import Arriving, Held, Rank, State, Step, Twin
from streamproof.prove.oracle.ordering import Order, placed
from streamproof.prove.oracle.rows import LATE, Row, Side
from streamproof.prove.oracle.trace import event_id

Key = tuple[Any, ...]
SUPERSEDED: Side = ("superseded", "")
_MILLISECOND = 1_000


@dataclass(frozen=True)
class Latest(Twin):
    """The newest row of each key, by a column and then by its time; `within_us` is how long a key is remembered after its latest row."""

    keeps: ClassVar[bool] = True
    holds: ClassVar[str] = "key"

    key: tuple[str, ...]
    order_by: str
    within_us: int

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Latest":
        return cls(tuple(given["key"]), given["order_by"], micros(given["within"]))

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.key, self.order_by)

    def begin(self, delay_us: int) -> State:
        return Seen(self)


@dataclass
class _Known:
    """What is known of a key: its newest row, what event that is, and the latest time of any."""

    newest: Row
    event: str
    latest_us: int


@dataclass
class Seen(State):
    """What is remembered of each key. `ambiguous` are those of which two events have one rank: what else is in their rows decides."""

    twin: Latest
    known: dict[Key, _Known] = field(default_factory=dict)
    ambiguous: list[Key] = field(default_factory=list)

    def step(self, *coming: Arriving) -> Step:
        (arriving,) = coming
        late, taken = arriving.parted()
        of_keys: dict[Key, list[Row]] = {}
        for row in taken:
            of_keys.setdefault(tuple(row.values[name] for name in self.twin.key), []).append(row)
        newest = [row for key, rows in of_keys.items() for row in self._compared(key, rows)]
        gone_on = {id(row) for row in newest}
        self.known = {key: seen for key, seen in self.known.items() if self._expiry(seen) > arriving.watermark_us}
        return Step(newest, {LATE: late, SUPERSEDED: [row for row in taken if id(row) not in gone_on]})

    def held(self) -> Held:
        newest = {key: Rank(seen.newest.values[self.twin.order_by], seen.newest.time_us) for key, seen in self.known.items()}
        expiries = {key: self._expiry(seen) for key, seen in self.known.items()}
        return Held(keys=expiries, newest=newest, ambiguous=tuple(self.ambiguous))

    def _expiry(self, seen: _Known) -> int:
        """A watermark is of whole milliseconds: a key is remembered until the first that is no earlier."""
        return -(-(seen.latest_us + self.twin.within_us) // _MILLISECOND) * _MILLISECOND

    def _compared(self, key: Key, rows: Sequence[Row]) -> list[Row]:
        """The row that the key changes to in a batch, if there is one."""
        before, latest_us = self.known.get(key), max(row.time_us or 0 for row in rows)
        best = max(rows, key=lambda row: (self._rank(row), row.traces))
        now, rank = _Known(best, event_id(best.traces[0]), latest_us), self._rank(best)
        alike = {event_id(row.traces[0]) for row in rows if self._rank(row) == rank}
        if before is not None:
            alike |= {before.event} if self._rank(before.newest) == rank else set()
            now.latest_us = max(latest_us, before.latest_us)
        if before is None or rank > self._rank(before.newest):
            self.known[key], newest = now, [best]
        else:
            self.known[key], newest = replace(before, latest_us=now.latest_us), []
        if len(alike) > 1 and self._rank(self.known[key].newest) == rank:
            self.ambiguous.append(key)
        return newest

    def _rank(self, row: Row) -> tuple[Order, int | None]:
        return placed(row.values[self.twin.order_by]), row.time_us
