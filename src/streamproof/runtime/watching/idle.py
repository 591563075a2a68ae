"""Sources of a union that have been quiet for so long that they no longer hold the watermark (`idle_after`, R13).

Spark takes the least of the watermarks of all sources. One that is idle is made to reach, at the end of a batch, what the others have reached:
it counts again as soon as it delivers. Whether it is idle is decided by the clocks in the offset logs, so that a batch that runs again decides alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from streamproof.checkpoint.logs import OffsetLog
from streamproof.core.durations import format_duration
from streamproof.core.notes import Note, NoteCode
from streamproof.runtime.journal.logs import BatchLogs, QueryLogs

if TYPE_CHECKING:
    from streamproof._jvm import BatchRows


@dataclass
class IdleSources:
    """Told each batch of a query once its rows are computed; lifts the watermarks of idle sources.

    Parameters
    ----------
    sources
        Their names, in the order in which Spark numbers them; none where no watermark stands on them.
    after
        By source how long it may be quiet; those that are not there hold the watermark for ever.
    """

    query: str
    sources: Sequence[str]
    after: Mapping[str, timedelta]
    now: set[str] = field(default_factory=set)
    """Those that the newest batch has left out."""
    _heard_ms: dict[str, int] = field(default_factory=dict)
    """By source the clock of the newest batch that has read something of it; where there is none, that of the first batch that is known."""
    _reached_ms: dict[str, int] = field(default_factory=dict)
    """By source the watermark that it has reached since this start, as Spark keeps it."""

    def look_back(self, logs: QueryLogs) -> None:
        """Finds in the logs of earlier starts when each source was heard of: the newest batch whose offset is another than the one before."""
        later: OffsetLog | None = None
        for batch in reversed(logs.batches("offsets") if self.after else ()):
            found = logs.offsets(batch)
            if found is None or len(self._heard_ms) == len(self.sources):
                break
            _, log = found
            if later is not None:
                self._hear(later, before=log)
            later = log
        if later is not None:
            for source in self.sources:
                self._heard_ms.setdefault(source, later.timestamp_ms)

    def _hear(self, log: OffsetLog, before: OffsetLog) -> None:
        for number, source in enumerate(self.sources):
            if _end(log, number) != _end(before, number):
                self._heard_ms.setdefault(source, log.timestamp_ms)

    def saw(self, logs: BatchLogs, rows: "BatchRows") -> None:
        """A batch is computed: sources that are idle by its clock reach what the least of the others has reached."""
        if not self.after:
            return
        self.now = set()
        for number, source in enumerate(self.sources):
            if logs.has_read(number):
                self._heard_ms[source] = logs.clock_ms
            elif self._is_idle(source, logs.clock_ms):
                self.now.add(source)
        for source, reached in zip(self.sources, rows.reached(), strict=True):
            if reached is not None:
                self._reach(source, reached)
        least = self._least_of_others()
        for number, source in enumerate(self.sources):
            if source in self.now and least is not None and least > self._reached_ms.get(source, 0):
                rows.lift(number, least)
                self._reach(source, least)

    def _is_idle(self, source: str, clock_ms: int) -> bool:
        quiet = timedelta(milliseconds=clock_ms - self._heard_ms.setdefault(source, clock_ms))
        return source in self.after and quiet >= self.after[source]

    def _least_of_others(self) -> int | None:
        """The event time that all sources have reached, idle ones aside. None if one has delivered nothing since the start, or all are idle."""
        others = [source for source in self.sources if source not in self.now]
        if not others or any(source not in self._reached_ms for source in others):
            return None
        return min(self._reached_ms[source] for source in others)

    def _reach(self, source: str, watermark_ms: int) -> None:
        self._reached_ms[source] = max(watermark_ms, self._reached_ms.get(source, watermark_ms))

    def notes(self) -> Iterator[Note]:
        """A note for each source that is left out at the end of a run; for all together where the watermark does not go on without them."""
        idle = [source for source in self.sources if source in self.now]
        if not idle:
            return
        others = [source for source in self.sources if source not in self.now]
        if not others:
            yield self._all_idle(idle)
            return
        unheard = [source for source in others if source not in self._reached_ms]
        for source in idle:
            goes = f"the watermark of {self.query} goes on without it. What it delivers later is late where it is behind that watermark."
            if unheard:
                goes = (
                    f"the watermark of {self.query} would go on without it, and stands still, since {' and '.join(unheard)} "
                    f"{'has' if len(unheard) == 1 else 'have'} delivered nothing since this start."
                )
            yield Note(NoteCode.SOURCE_IDLE, f"{source} {self._quiet(source)}: {goes}", source)

    def _all_idle(self, idle: Sequence[str]) -> Note:
        quiet = " and ".join(f"{source} {self._quiet(source)}" for source in idle)
        said = f"{quiet}: all sources of {self.query} are idle, so its watermark stands where it is. It goes on when one of them delivers."
        return Note(NoteCode.SOURCE_IDLE, said, idle[0])

    def _quiet(self, source: str) -> str:
        return f"has delivered nothing for {format_duration(self.after[source])} or longer (idle_after)"


def _end(log: OffsetLog, source: int) -> str | None:
    """The offset of a source; one without data yet may not be in the log."""
    return log.sources[source] if source < len(log.sources) else None
