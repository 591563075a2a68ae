"""The twin of a join: rows of one key that happened within a stretch of time of each other, and who waits for a partner until when."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.operators.twin import Arriving, Held, Pairs, State, Step, Twin
from streamproof.prove.oracle.rows import Row, Side

Key = tuple[Any, ...]
LATE: tuple[Side, Side] = (("late", "left"), ("late", "right"))
UNMATCHED: tuple[Side, Side] = (("unmatched", "left"), ("unmatched", "right"))
_MILLISECOND = 1_000
_NAN = "not a number"


@dataclass(frozen=True)
class Join(Twin):
    """Rows of both sides with one key, of which the right one happened at least `earliest_us` and at most `latest_us` after the left one.

    `kept` says of each side whether its rows without a partner are part of the output.
    """

    keeps: ClassVar[bool] = True
    holds: ClassVar[str] = "row"

    key: tuple[str, ...]
    earliest_us: int
    latest_us: int
    kept: tuple[bool, bool] = (False, False)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Join":
        on, (earliest, latest), how = given["on"], given["between"], given["how"]
        key = (on,) if isinstance(on, str) else tuple(on)
        return cls(key, _signed(earliest), _signed(latest), (how in ("left", "full"), how in ("right", "full")))

    @property
    def columns(self) -> tuple[str, ...]:
        return self.key

    @property
    def pairs(self) -> Pairs:
        return Pairs(self.key, self.earliest_us, self.latest_us)

    def waits_until(self, side: int, time_us: int) -> int:
        """The last instant at which a partner of a row can happen."""
        return time_us + (self.latest_us if side == 0 else -self.earliest_us)

    def leaves(self, *watermarks_us: int) -> int:
        """A row comes out with one that happened before it, or by itself when its time is over."""
        return min(watermarks_us) - max(self.latest_us, -self.earliest_us, 0) - _MILLISECOND

    def begin(self, delay_us: int) -> State:
        return Waiting(self)


@dataclass(eq=False)
class _Kept:
    """A row that waits, and whether it has met another."""

    row: Row
    met: bool = False


@dataclass
class Waiting(State):
    """The rows of each side that can still meet one, by key."""

    twin: Join
    sides: tuple[dict[Key, list[_Kept]], dict[Key, list[_Kept]]] = field(default_factory=lambda: ({}, {}))

    def step(self, *coming: Arriving) -> Step:
        late: dict[Side, list[Row]] = {}
        alone: tuple[list[Row], list[Row]] = ([], [])
        joined: list[Row] = []
        for side, arriving in enumerate(coming):
            late[LATE[side]] = [row for row in arriving.rows if arriving.first and _is_late(row, arriving.bound_us)]
            for row in arriving.rows:
                if arriving.first and _is_late(row, arriving.bound_us):
                    continue
                key = self._key(row)
                if key is None:
                    alone[side].append(row)
                else:
                    joined += self._meets(side, key, _Kept(row))
        over = tuple(self._over(side, arriving.watermark_us) for side, arriving in enumerate(coming))
        for side, gone in enumerate(over):
            alone[side].extend(one.row for one in gone if not one.met)
        out = [row for side, rows in enumerate(alone) if self.twin.kept[side] for row in rows]
        left = [trace for gone in over for one in gone if one.met for trace in one.row.traces]
        left += [trace for row in out for trace in row.traces]
        unmatched = {UNMATCHED[side]: rows for side, rows in enumerate(alone) if not self.twin.kept[side]}
        return Step([*joined, *out], {**late, **unmatched}, left=left)

    def held(self) -> Held:
        rows = tuple(trace for side in self.sides for there in side.values() for one in there for trace in one.row.traces)
        return Held(waiting=rows, rows=rows)

    def _key(self, row: Row) -> Key | None:
        """The key of a row; none where a part of it is null, which is equal to nothing."""
        values = tuple(row.values[name] for name in self.twin.key)
        return None if any(value is None for value in values) else tuple(map(_comparable, values))

    def _meets(self, side: int, key: Key, new: _Kept) -> list[Row]:
        """The rows that a new one makes with those of the other side that are there, those of its own batch among them."""
        met = [other for other in self.sides[1 - side].get(key, ()) if self._near(*((new, other) if side == 0 else (other, new)))]
        new.met = bool(met)
        for other in met:
            other.met = True
        self.sides[side].setdefault(key, []).append(new)
        return [_joined(*((new.row, other.row) if side == 0 else (other.row, new.row))) for other in met]

    def _near(self, left: _Kept, right: _Kept) -> bool:
        apart = (right.row.time_us or 0) - (left.row.time_us or 0)
        return self.twin.earliest_us <= apart <= self.twin.latest_us

    def _over(self, side: int, watermark_us: int) -> list[_Kept]:
        """The rows whose partner can no longer come: the watermark is a millisecond above the last instant at which it could happen."""
        gone: list[_Kept] = []
        for key, there in self.sides[side].items():
            stay = [one for one in there if self.twin.waits_until(side, one.row.time_us or 0) + _MILLISECOND > watermark_us]
            if len(stay) < len(there):
                waiting = set(map(id, stay))
                gone += [one for one in there if id(one) not in waiting]
                self.sides[side][key] = stay
        return gone


def _joined(left: Row, right: Row) -> Row:
    """A row of both happened when its left row did."""
    return Row((*left.traces, *right.traces), left.time_us, {**right.values, **left.values})


def _comparable(value: Any) -> Any:
    """A value as keys are equal by it: to Spark one NaN is like another."""
    return _NAN if isinstance(value, float) and math.isnan(value) else value


def _is_late(row: Row, bound_us: int) -> bool:
    return row.time_us is not None and row.time_us <= bound_us


def _signed(written: Any) -> int:
    """A bound as it was written: "-10 minutes" is before."""
    text = written.strip() if isinstance(written, str) else written
    return -micros(text[1:]) if isinstance(text, str) and text.startswith("-") else micros(text)
