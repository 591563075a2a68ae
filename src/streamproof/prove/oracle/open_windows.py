"""Windows that are open: what each holds, which are due, and which rows come too late for them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from streamproof.prove.oracle.rows import Row, WindowContents, WindowKey
from streamproof.prove.oracle.trace import hash_of, together
from streamproof.prove.oracle.windows import PlainWindow

By = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A row in one of its windows."""

    row: Row
    by: By
    start_us: int
    end_us: int


@dataclass
class _Open:
    """A window that is open."""

    end_us: int
    hash: int = 0
    traces: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    parts: list[tuple[WindowKey, WindowContents]] = field(default_factory=list)

    def frozen(self) -> WindowContents:
        rows = tuple(self.rows) if len(self.rows) < len(self.traces) else ()
        return WindowContents(len(self.traces), self.hash, tuple(self.traces), self.end_us, tuple(self.parts), rows)


@dataclass
class Windows:
    """The open windows of an operator, by key and start; `by` are the columns of the key."""

    kind: PlainWindow
    by: tuple[str, ...] = ()
    open: dict[WindowKey, _Open] = field(default_factory=dict)
    _starts: dict[By, set[int]] = field(default_factory=dict)

    def pairs(self, rows: Iterable[Row]) -> list[Pair]:
        """The rows, one for each of their windows; a row without an event time is in none."""
        return [
            Pair(row, tuple(row.values.get(name) for name in self.by), start, end)  # of a join a row may be of one side only
            for row in rows
            if row.time_us is not None
            for start, end in self.kind.of_event(row.time_us, self.kind.gap_in(row.values))
        ]

    def is_late(self, pair: Pair, bound_us: int) -> bool:
        """Whether a row comes too late for one of its windows."""
        return (pair.row.time_us or 0 if self.kind.late_by_time else pair.end_us) <= bound_us

    def add(self, pairs: Iterable[Pair]) -> set[WindowKey]:
        """Puts the rows of a batch into their windows, and gives these; of a kind that merges, windows of a key that meet become one."""
        changed: set[WindowKey] = set()
        for pair in pairs:
            key, window = self._met(pair) if self.kind.merges else self._of(pair)
            window.hash += sum(hash_of(trace) for trace in pair.row.traces)
            window.traces += pair.row.traces
            window.rows.append(together(pair.row.traces))
            window.parts += [(pair.row.group.key, pair.row.group.contents)] if pair.row.group is not None else []
            self.open[key] = window
            self._starts.setdefault(key[0], set()).add(key[1])
            changed.add(key)
        return changed

    def due(self, watermark_us: int) -> dict[WindowKey, WindowContents]:
        """Takes out the windows whose end the watermark has reached."""
        due = [key for key, window in self.open.items() if window.end_us <= watermark_us]
        return {key: self._taken(key).frozen() for key in due}

    def frozen(self) -> dict[WindowKey, WindowContents]:
        return {key: window.frozen() for key, window in self.open.items()}

    def _taken(self, key: WindowKey) -> _Open:
        self._starts[key[0]].discard(key[1])
        return self.open.pop(key)

    def _of(self, pair: Pair) -> tuple[WindowKey, _Open]:
        key = (pair.by, pair.start_us)
        return key, self.open.get(key) or _Open(pair.end_us)

    def _met(self, pair: Pair) -> tuple[WindowKey, _Open]:
        by, start, merged = pair.by, pair.start_us, _Open(pair.end_us)
        keys = [(by, begun) for begun in sorted(self._starts.get(by, ()))]
        touched = [key for key in keys if key[1] <= pair.end_us and pair.start_us <= self.open[key].end_us]
        met = [key for key in touched if self.kind.may_merge(key[1], start)]
        for key in reversed(met):
            window = self._taken(key)
            start, merged.end_us = min(start, key[1]), max(merged.end_us, window.end_us)
            merged.hash += window.hash
            merged.traces = window.traces + merged.traces
            merged.rows = window.rows + merged.rows
            merged.parts = window.parts + merged.parts
        return (by, start), merged
