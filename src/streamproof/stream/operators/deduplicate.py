"""Deduplication: one row for each key, as long as copies can come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from streamproof.stream.operators.operator import Mention, Stateful, typed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Deduplicate(Stateful):
    """Keeps one row per key within the watermark delay (R12)."""

    name: ClassVar[str] = "deduplicate"

    key: tuple[str, ...]

    def ready(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return rows

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """By the event time itself: a late copy of an event that is forgotten would pass for a new one (R10)."""
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(event_time))

    def streaming(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return doors.once(rows, list(self.key))

    def mentioned(self) -> Sequence[Mention]:
        return (Mention("deduplicate()", self.key, exact=True),)

    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        return {"deduplication key": typed(rows, self.key)}
