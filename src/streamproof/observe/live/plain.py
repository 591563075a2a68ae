"""What a picture keeps of a query of a plain PySpark job, beside what it has of any query."""

from dataclasses import dataclass, replace

from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedHeard

SILENT_SECONDS = 600.0
"""Spark is silent at the earliest then, and where it takes ten times as long as it did from word to word."""
SILENT_FROM_THE_BEGINNING_SECONDS = 1_800.0
_WEIGHT = 0.2
"""Of the newest interval in the mean."""


@dataclass(frozen=True)
class Plain:
    """When Spark said something of the query last, by the steady clock, and how long it takes from word to word on the average; what it died of.

    `trigger` is the interval of its trigger in seconds, None where it is not known.
    """

    heard: float
    interval: float | None = None
    error: str | None = None
    trigger: float | None = None

    def after(self, event: WatchedHeard, at: float) -> "Plain":
        """Once Spark has said something."""
        took, before = event.since_before, self.interval
        mean = before if took is None else took if before is None else before + _WEIGHT * (took - before)
        return replace(self, heard=at, interval=mean)

    def ended(self, event: WatchedEnded, at: float) -> "Plain":
        """Once the query has ended."""
        return replace(self, heard=at, error=event.error)

    def silent_seconds(self, now: float) -> float | None:
        """For how long Spark has said nothing, where that is longer than it should be."""
        bound = SILENT_FROM_THE_BEGINNING_SECONDS if self.interval is None else max(SILENT_SECONDS, 10 * self.interval)
        bound = max(bound, 2 * (self.trigger or 0.0))
        return now - self.heard if now - self.heard > bound else None
