"""A watermark that leaps: one event lies far ahead of the others, and all that come after it are late."""

from dataclasses import dataclass, replace
from datetime import datetime

from streamproof.core.clock import LAST_MICROS, from_micros
from streamproof.core.notes import Note, NoteCode
from streamproof.runtime.journal.logs import BatchLogs

_FAR_MS = 86_400_000
"""A day, as the default of `max_future`: a watermark that goes further in one batch leaps, but for the first one."""
_AHEAD_MS = 3_600_000
"""An hour: a watermark that goes further ahead of the batch's own clock leaps. Clocks of producers differ by less."""


@dataclass(frozen=True)
class Leap:
    """The watermark of `batch` and the one before (None where there was none), and the rows that were late after that batch."""

    query: str
    batch: int
    before: datetime | None
    after: datetime
    late: int = 0

    @property
    def note(self) -> Note:
        """What happened, what it did, and what to look at."""
        came = f"from {_shown(self.before)} to" if self.before else "to"
        late = {0: "no row was late", 1: "1 row was late"}.get(self.late, f"{self.late:,} rows were late")
        said = (
            f"The watermark of {self.query} leapt in batch {self.batch} {came} {_shown(self.after)}; {late} since, in this run. Look at the "
            f"newest event of batch {self.batch - 1}: max_future of event_time says how far ahead one may be."
        )
        return Note(NoteCode.WATERMARK_LEAPT, said)


@dataclass
class Leaps:
    """Told each batch of a query; keeps the furthest leap of the run."""

    query: str
    furthest: Leap | None = None
    _furthest_ms: int = 0

    def saw(self, batch: int, logs: BatchLogs, late: int) -> Leap | None:
        """A batch is done, `late` rows of it late: by the watermark of the batch before. The leap in it, if it is the furthest so far."""
        if self.furthest is not None:
            self.furthest = replace(self.furthest, late=self.furthest.late + late)
        before, after = logs.watermark_before_ms, logs.fingerprint.watermark_ms
        far = before > 0 and after - before > _FAR_MS
        ahead = after > before and after - logs.clock_ms > _AHEAD_MS
        if (far or ahead) and after - before > self._furthest_ms:
            self._furthest_ms = after - before
            self.furthest = Leap(self.query, batch, _instant(before) if before > 0 else None, _instant(after))
            return self.furthest
        return None


def _instant(milliseconds: int) -> datetime:
    """What lies beyond the year 9999 is told as its last instant: that it leapt is the news."""
    return from_micros(min(milliseconds * 1000, LAST_MICROS))


def _shown(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"
