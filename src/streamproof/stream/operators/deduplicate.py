"""Deduplication: one row for each key, as long as copies can come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.core.durations import format_duration, micros_of
from streamproof.core.sides import DUPLICATE, LATE, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.known import Mention
from streamproof.stream.names import INSTANT, RECORDS, TRACE_HASH
from streamproof.stream.operators.operator import Exercise, Kept, OneInput, typed
from streamproof.stream.windows.window import DELAY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors

COPIES = Exercise(
    "duplicate",
    "{query} deduplicates and met no duplicate.",
    "Make some: [source.{source}.faults] duplicates = 0.01",
    called="duplicate",
)


@dataclass(frozen=True)
class Deduplicate(OneInput):
    """Keeps one row per key within the watermark delay, or within a horizon of its own (R12)."""

    name: ClassVar[str] = "deduplicate"
    call: ClassVar[str] = "deduplicate()"

    key: tuple[str, ...]
    within: timedelta | None = None

    @property
    def sides(self) -> Sequence[Side]:
        return (LATE, DUPLICATE)

    @property
    def grouped_by(self) -> Sequence[str]:
        return self.key

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """By the event time itself: a late copy of an event that is forgotten would pass for a new one (R10)."""
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(event_time))

    def hold(self, rows: "DataFrame", event_time: str, doors: "Doors", *, followed: bool) -> Kept:
        from pyspark.sql import functions as F

        once = self._once(rows, event_time, doors)
        if RECORDS in rows.columns:  # after a join
            once = doors.going_on(once, F.col(RECORDS), after=self.name)
            once = once if followed else once.drop(TRACE_HASH, INSTANT)
        return Kept(once, event_time)

    def _once(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        if self.within is None or DELAY not in rows.schema[event_time].metadata:  # a batch has no watermark, and forgets nothing
            return doors.once(rows, list(self.key))
        declared = dict(rows.schema[event_time].metadata)
        # Spark remembers a key for the delay that its event time bears. What stands behind goes by the watermark's own again.
        bearing = rows.withMetadata(event_time, {**declared, DELAY: micros_of(self.within) // 1000})
        return doors.once(bearing, list(self.key)).withMetadata(event_time, declared)

    def refuses(self, method: str) -> JobDefinitionError | None:
        if method != "transform()":
            return None
        return JobDefinitionError(
            "transform() stands behind deduplicate().",
            required="What deduplicate() remembers goes by the rows as they come to it; only the rows of a window may be transformed after it.",
            remedy="Put transform() before deduplicate(). Where a window follows, it may also stand after aggregate().",
        )

    def exercises(self) -> Sequence[Exercise]:
        return (COPIES,)

    def mentioned(self) -> Sequence[Mention]:
        return (Mention("deduplicate()", self.key, exact=True),)

    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        key = {"deduplication key": typed(rows, self.key)}
        return key if self.within is None else {**key, "deduplication within": format_duration(self.within)}
