"""The twin of windows: rows for each window and key, when its emission says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.emissions import Given, emission_of
from streamproof.prove.oracle.open_windows import Pair, Windows
from streamproof.prove.oracle.operators.twin import Arriving, Grouped, Held, State, Step, Twin
from streamproof.prove.oracle.rows import LATE, Group, Row, WindowKey
from streamproof.prove.oracle.windows import PlainWindow
from streamproof.prove.oracle.windows.written import plain_window

_FINAL = "final"


@dataclass(frozen=True)
class Window(Twin):
    """Windows of a kind, the columns of their key, their aggregates, how late rows may be, and which emission gives their rows."""

    keeps: ClassVar[bool] = True
    holds: ClassVar[str] = "window"

    kind: PlainWindow
    by: tuple[str, ...]
    aggregates: Mapping[str, Any]
    lateness: int
    emit: str = _FINAL

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Window":
        by = given["by"]
        return cls(
            plain_window(given["window"]),
            (by,) if isinstance(by, str) else tuple(by),
            given["aggregates"],
            micros(given["allowed_lateness"]),
            given["emit"],
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        return self.kind.refusals

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        return self.kind.refuses(values)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.by, *self.kind.columns)

    @property
    def lateness_us(self) -> int:
        return self.lateness

    @property
    def decides(self) -> PlainWindow:
        return self.kind

    @property
    def late_by_window(self) -> bool:
        return self.kind.several

    @property
    def grouped(self) -> Grouped:
        return Grouped(self.kind, self.by, self.aggregates, self.emit != _FINAL)

    @property
    def waits(self) -> Grouped:
        return self.grouped

    def begin(self, delay_us: int) -> State:
        return Open(self)


class Open(State):
    """The windows that are open."""

    def __init__(self, twin: Window) -> None:
        self._several, self._by = twin.kind.several, twin.by
        self._windows = Windows(twin.kind, twin.by)
        self._emission = emission_of(twin.emit, twin.lateness)
        self._given: set[WindowKey] = set()

    def step(self, *coming: Arriving) -> Step:
        (arriving,) = coming
        pairs = self._windows.pairs(arriving.rows)
        late = [pair for pair in pairs if arriving.first and self._windows.is_late(pair, arriving.bound_us)]
        taken = [pair for pair in pairs if not (arriving.first and self._windows.is_late(pair, arriving.bound_us))]
        given = self._emission.give(self._windows, self._windows.add(taken), arriving.watermark_us)
        self._given.update(given.windows)
        return Step(self._rows(given), {LATE: [self._for(pair) for pair in late]}, _further(pairs), given.new)

    def held(self) -> Held:
        groups = self._windows.frozen()
        waiting = [trace for key, contents in groups.items() if key not in self._given for trace in contents.traces]
        return Held(groups, waiting=waiting)

    def _rows(self, given: Given) -> list[Row]:
        """A row of a window happened a microsecond before its end, which lies in no later window."""
        return [
            Row(
                contents.traces,
                contents.end_us - 1,
                dict(zip(self._by, key[0], strict=True)),
                Group(key, contents, given.revisions[key]),
            )
            for key, contents in given.windows.items()
        ]

    def _for(self, pair: Pair) -> Row:
        """A late row; where windows overlap it says for which of them it is."""
        if not self._several:
            return pair.row
        values = {**pair.row.values, "window_start": pair.start_us, "window_end": pair.end_us}
        return Row(pair.row.traces, pair.row.time_us, values, pair.row.group)


def _further(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The traces of the second and further windows of rows."""
    seen: set[int] = set()  # rows themselves: windows that overlap may hold the same records
    further: list[str] = []
    for pair in pairs:
        if id(pair.row) in seen:
            further += pair.row.traces
        seen.add(id(pair.row))
    return tuple(further)
