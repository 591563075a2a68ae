"""The twin of windows: what each holds, which are due, and which records come too late for them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamproof.prove.oracle.arrived import Arrived
from streamproof.prove.oracle.expectation import WindowContents, WindowKey
from streamproof.prove.oracle.trace import hash_of
from streamproof.prove.oracle.windows import PlainWindow

By = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A record in one of its windows."""

    record: Arrived
    start_us: int
    end_us: int

    @property
    def by(self) -> By:
        return self.record.by

    @property
    def contents(self) -> WindowContents:
        return WindowContents(1, hash_of(self.record.trace), (self.record.trace,), self.end_us)


@dataclass(frozen=True, slots=True)
class Closed:
    """A window that is over, in one of the windows behind it; it came at the last microsecond before its end."""

    key: WindowKey
    by: By
    contents: WindowContents
    start_us: int
    end_us: int


def closed(due: Mapping[WindowKey, WindowContents], kind: PlainWindow, places: Sequence[int]) -> list[Closed]:
    """Windows that are due, one for each of the windows behind them; `places` are those of the second key in the first."""
    return [
        Closed(key, tuple(key[0][place] for place in places), contents, start, end)
        for key, contents in due.items()
        for start, end in kind.assign(contents.end_us - 1)
    ]


@dataclass
class _Open:
    """A window that is open."""

    end_us: int
    hash: int = 0
    traces: list[str] = field(default_factory=list)
    parts: list[tuple[WindowKey, WindowContents]] = field(default_factory=list)

    def frozen(self) -> WindowContents:
        return WindowContents(len(self.traces), self.hash, tuple(self.traces), self.end_us, tuple(self.parts))


@dataclass
class Windows:
    """The open windows of a query, by key and start."""

    kind: PlainWindow
    open: dict[WindowKey, _Open] = field(default_factory=dict)
    _starts: dict[By, set[int]] = field(default_factory=dict)

    def pairs(self, records: Iterable[Arrived]) -> list[Pair]:
        """The records, one for each of their windows; a record without an event time is in none."""
        return [
            Pair(record, start, end)
            for record in records
            if record.time_us is not None
            for start, end in self.kind.of_event(record.time_us, record.gap_us)
        ]

    def is_late(self, pair: Pair, bound_us: int) -> bool:
        """Whether a record comes too late for one of its windows."""
        return (pair.record.time_us or 0 if self.kind.late_by_time else pair.end_us) <= bound_us

    def add(self, pairs: Iterable[Pair | Closed]) -> set[WindowKey]:
        """Puts the records of a batch into their windows, and gives these; of a kind that merges, windows of a key that meet become one."""
        changed: set[WindowKey] = set()
        for pair in pairs:
            key, window = self._met(pair) if self.kind.merges else self._of(pair)
            window.hash += pair.contents.hash
            window.traces += pair.contents.traces
            window.parts += [(pair.key, pair.contents)] if isinstance(pair, Closed) else []
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

    def _of(self, pair: Pair | Closed) -> tuple[WindowKey, _Open]:
        key = (pair.by, pair.start_us)
        return key, self.open.get(key) or _Open(pair.end_us)

    def _met(self, pair: Pair | Closed) -> tuple[WindowKey, _Open]:
        by, start, merged = pair.by, pair.start_us, _Open(pair.end_us)
        keys = [(by, begun) for begun in sorted(self._starts.get(by, ()))]
        touched = [key for key in keys if key[1] <= pair.end_us and pair.start_us <= self.open[key].end_us]
        met = [key for key in touched if self.kind.may_merge(key[1], start)]
        for key in reversed(met):
            window = self._taken(key)
            start, merged.end_us = min(start, key[1]), max(merged.end_us, window.end_us)
            merged.hash += window.hash
            merged.traces = window.traces + merged.traces
            merged.parts = window.parts + merged.parts
        return (by, start), merged
