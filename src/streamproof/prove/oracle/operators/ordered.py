"""The twin of deduplication by an order: rows of a key that follow each other are one, once no other can come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.open_windows import Windows
from streamproof.prove.oracle.operators.twin import Arriving, Grouped, Held, State, Step, Twin
from streamproof.prove.oracle.ordering import placed
from streamproof.prove.oracle.rows import DUPLICATE, LATE, Row, WindowContents
from streamproof.prove.oracle.trace import event_id
from streamproof.prove.oracle.windows import PlainSession, PlainWindow


@dataclass(frozen=True)
class OrderedDeduplicate(Twin):
    """Of the rows of a key that follow each other within a horizon, the first or the last by a column."""

    keeps: ClassVar[bool] = True
    holds: ClassVar[str] = "window"

    key: tuple[str, ...]
    within_us: int
    order_by: str
    last: bool

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "OrderedDeduplicate":
        return cls(tuple(given["key"]), micros(given["within"]), given["order_by"], given["keep"] == "last")

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.key, self.order_by)

    @property
    def decides(self) -> PlainWindow:
        return PlainSession(self.within_us)

    @property
    def waits(self) -> Grouped:
        return Grouped(self.decides, self.key)

    @property
    def once(self) -> tuple[str, ...]:
        return self.key

    @property
    def order(self) -> str:
        return self.order_by

    def begin(self, delay_us: int) -> State:
        return Waiting(self)


@dataclass
class Waiting(State):
    """The rows that wait, by key and session.

    `ambiguous` are keys of which two events are first, or last: what else is in their rows decides, which the twin does not know.
    """

    twin: OrderedDeduplicate
    ambiguous: list[tuple[Any, ...]] = field(default_factory=list)
    waiting: Windows = field(init=False)
    _rows: dict[str, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = Windows(self.twin.decides, self.twin.key)

    def step(self, *coming: Arriving) -> Step:
        (arriving,) = coming
        late, taken = arriving.parted(self.twin.within_us)
        self._rows |= {trace: row for row in taken for trace in row.traces}
        self.waiting.add(self.waiting.pairs(taken))
        kept, dropped = self._due(arriving.watermark_us)
        return Step(kept, {LATE: late, DUPLICATE: dropped})

    def held(self) -> Held:
        groups = self.waiting.frozen()
        waiting = [trace for contents in groups.values() for trace in contents.traces]
        return Held(groups, waiting=waiting, ambiguous=tuple(self.ambiguous))

    def _due(self, watermark_us: int) -> tuple[list[Row], list[Row]]:
        """The rows that stay now that no other can come, and the others."""
        kept: list[Row] = []
        dropped: list[Row] = []
        for (key, _), contents in self.waiting.due(watermark_us).items():
            rows = self._taken(contents)
            stays = self._chosen(key, rows)
            kept.append(stays)
            dropped += [row for row in rows if row is not stays]
        return kept, dropped

    def _taken(self, contents: WindowContents) -> list[Row]:
        rows = [self._rows.pop(trace) for trace in contents.traces]
        return list({row.traces: row for row in rows}.values())

    def _chosen(self, key: tuple[Any, ...], rows: Sequence[Row]) -> Row:
        stays = (max if self.twin.last else min)(rows, key=lambda row: (*self._place(row), row.traces))
        rivals = {event_id(row.traces[0]) for row in rows if self._place(row) == self._place(stays)}
        if len(rivals) > 1:
            self.ambiguous.append(key)
        return stays

    def _place(self, row: Row) -> tuple[Any, ...]:
        """A row without an order comes last where the first stays."""
        order = placed(row.values[self.twin.order_by])
        return (not self.twin.last and not order[0], order, row.time_us)
