"""Deduplication: one row for each key, as long as copies can come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.core.durations import format_duration, micros_of
from streamproof.stream.operators.operator import Mention, Stateful, typed
from streamproof.stream.windows.window import DELAY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Deduplicate(Stateful):
    """Keeps one row per key within the watermark delay, or within a horizon of its own (R12)."""

    name: ClassVar[str] = "deduplicate"

    key: tuple[str, ...]
    within: timedelta | None = None

    def ready(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return rows

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """By the event time itself: a late copy of an event that is forgotten would pass for a new one (R10)."""
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(event_time))

    def streaming(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        if self.within is None:
            return doors.once(rows, list(self.key))
        declared = dict(rows.schema[event_time].metadata)
        if DELAY not in declared:  # a batch has no watermark
            return doors.once(rows, list(self.key))
        # Spark remembers a key for as long as the delay of this column says; windows behind it go by the watermark's own.
        shorter = rows.withMetadata(event_time, {**declared, DELAY: micros_of(self.within) // 1000})
        return doors.once(shorter, list(self.key)).withMetadata(event_time, declared)

    def mentioned(self) -> Sequence[Mention]:
        return (Mention("deduplicate()", self.key, exact=True),)

    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        parts = {"deduplication key": typed(rows, self.key)}
        return parts if self.within is None else parts | {"deduplication within": format_duration(self.within)}
