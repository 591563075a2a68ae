"""The twin of deduplication by an order: rows of a key that follow each other are one, once no other can come."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

from streamproof.prove.oracle.arrived import Arrived
from streamproof.prove.oracle.expectation import WindowContents
from streamproof.prove.oracle.operators.window import Windows
from streamproof.prove.oracle.trace import event_id
from streamproof.prove.oracle.windows import PlainSession


@dataclass
class OrderedDeduplication:
    """The rows that wait, by key and session; `last` says which of them stays.

    `ambiguous` are keys of which two events are first, or last: what else is in their rows decides, which the twin does not know.
    """

    gap_us: int
    last: bool
    ambiguous: list[tuple[Any, ...]] = field(default_factory=list)
    waiting: Windows = field(init=False)
    _records: dict[str, Arrived] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = Windows(PlainSession(self.gap_us))

    def late(self, record: Arrived, bound_us: int) -> bool:
        return record.time_us is not None and record.time_us + self.gap_us <= bound_us

    def add(self, records: list[Arrived]) -> None:
        self._records |= {record.trace: record for record in records}
        self.waiting.add(self.waiting.pairs([replace(record, by=record.dedup or ()) for record in records]))

    def due(self, watermark_us: int) -> tuple[list[Arrived], tuple[str, ...]]:
        """The rows that stay now that no other can come, and the event ids of the others."""
        kept: list[Arrived] = []
        dropped: list[str] = []
        for (key, _), contents in self.waiting.due(watermark_us).items():
            stays = self._chosen(key, contents)
            kept.append(stays)
            dropped += [event_id(trace) for trace in contents.traces if trace != stays.trace]
        return kept, tuple(dropped)

    def _chosen(self, key: tuple[Any, ...], contents: WindowContents) -> Arrived:
        records = [self._records.pop(trace) for trace in contents.traces]
        stays = (max if self.last else min)(records, key=lambda record: (*self._place(record), record.trace))
        rivals = {event_id(record.trace) for record in records if self._place(record) == self._place(stays)}
        if len(rivals) > 1:
            self.ambiguous.append(key)
        return stays

    def _place(self, record: Arrived) -> tuple[Any, ...]:
        """A record without an order comes last where the first stays, and first where the last stays; NaN is the greatest number."""
        order = record.order
        if order is None:
            return (not self.last, False, 0, record.time_us)
        nan = isinstance(order, float) and math.isnan(order)
        return (self.last, nan, 0 if nan else order, record.time_us)
