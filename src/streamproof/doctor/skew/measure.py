"""Measures the skew of event time over a stream of chunks, as Spark would see it (S3).

Spark's watermark is the newest event time of the batches before, cut to milliseconds, less the delay. An event is late if its time is at or before the
watermark. Here a batch is judged by all batches before it. Spark 4 filters by the watermark that the batch before has begun with, so where
batches follow each other without a pause it is one batch kinder; with a pause between them it runs a batch without data, and is not. What
is counted here is never less than what Spark loses on the same batches.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamproof.doctor.skew import ahead
from streamproof.doctor.skew.chunks import Chunk, Codes, Micros, Names, joined
from streamproof.doctor.skew.histogram import Distribution, Histogram
from streamproof.doctor.skew.newest import NONE_YET, NewestTimes
from streamproof.doctor.skew.skew import LADDER, Counts, Delays, GroupSkew, Judging, Loss, Skew, percentiles_of
from streamproof.errors import ConfigurationError

_AT_ONCE = 1 << 17
_MS = 1_000
_DROPPED = 3
"""Of groups there are many: what is said of each is known to a hundredth."""


class Measure:
    """Told chunk by chunk what arrives; says at the end what was measured.

    Parameters
    ----------
    names
        By dimension, what the groups of the chunks are called.
    judging
        How they are judged.
    delays
        Delays in microseconds that are counted beside those of the ladder.
    """

    def __init__(self, names: Mapping[str, Names], judging: Judging | None = None, *, delays: Sequence[int] = ()) -> None:
        self._names, self._judging = names, judging or Judging()
        self._delays: Micros = np.array(sorted({*LADDER, *delays}), dtype=np.int64)
        self._pending: list[Chunk] = []
        self._waiting = 0
        self._newest = NewestTimes(self._judging.batch)
        self._counts, self._longest = Counts(), 0
        self._whole = Histogram()
        self._by_group = {name: Histogram(_DROPPED) for name in names}
        self._longest_of: dict[str, Micros] = {name: np.zeros(0, dtype=np.int64) for name in names}
        self._late_by = np.zeros(len(self._delays) + 1, dtype=np.int64)
        self._behind_by = np.zeros(len(self._delays) + 1, dtype=np.float64)

    def add(self, chunk: Chunk) -> None:
        """Takes events, in the order in which they arrive."""
        self._counts.unreadable += chunk.unreadable
        self._pending.append(chunk)
        self._waiting += len(chunk)
        if self._waiting >= _AT_ONCE:
            self._work(last=False)

    def finished(self, *, lose: float) -> Skew:
        """What was measured, and which delay loses at most the share `lose` of the events.

        Raises
        ------
        ConfigurationError
            If there are not two events with a time.
        """
        self._work(last=True)
        distribution = self._whole.whole()
        events = self._counts.events = distribution.count + self._counts.before_1970
        if events < 2:
            self._require_two(events)
        losses = self._losses(events)
        chosen = next((loss for loss in losses if loss.delay_us in LADDER and loss.events <= lose * events), None)
        return Skew(
            counts=self._counts,
            distribution=distribution,
            longest=self._longest,
            delays=Delays(losses, lose, chosen, self._needed(distribution, events, lose)),
            groups={name: self._groups(name, 0 if chosen is None else chosen.delay_us) for name in self._names},
            lumped=[name for name, found in self._names.items() if found.lumped],
            leap_us=self._newest.leap,
            judging=self._judging,
        )

    def _work(self, *, last: bool) -> None:
        if not self._pending:
            return
        chunk = joined(self._pending)
        refused = ahead.rejected(chunk, self._judging.max_future_us, clock_known=self._judging.clock_known)
        # What lies behind the last block is told by neighbours that have not arrived yet: it waits.
        ready = len(chunk) if last else max(0, (len(chunk) - ahead.NEIGHBOURS) // ahead.NEIGHBOURS * ahead.NEIGHBOURS)
        self._take(chunk.part(slice(0, ready)), refused[:ready])
        self._pending, self._waiting = [chunk.part(slice(ready, None))], len(chunk) - ready

    def _take(self, chunk: Chunk, refused: NDArray[np.bool_]) -> None:
        if not len(chunk):
            return
        before = self._newest.before(chunk.times, refused)
        self._counts.ahead += int(refused.sum())
        # At or before 1970 an event is behind the watermark that Spark begins with.
        counted = ~refused & (chunk.times > 0)
        self._counts.before_1970 += int((~refused & (chunk.times <= 0)).sum())
        times, before = chunk.times[counted], before[counted]
        behind = np.where(before == NONE_YET, -1, before // _MS * _MS - times)
        by = np.searchsorted(self._delays, behind, side="right")
        self._late_by += np.bincount(by, minlength=len(self._late_by))
        self._counts.in_order += int((before <= times).sum())
        behind = np.maximum(behind, 0)
        self._behind_by += np.bincount(by, weights=behind, minlength=len(self._behind_by))
        self._longest = max(self._longest, int(behind.max(initial=0)))
        self._whole.add(behind)
        for name, histogram in self._by_group.items():
            codes = chunk.groups[name][counted]
            histogram.add(behind, codes)
            self._lengthen(name, codes, behind)

    def _lengthen(self, name: str, codes: Codes, behind: Micros) -> None:
        if len(codes):
            longest = self._longest_of[name]
            more = int(codes.max()) + 1 - len(longest)
            if more > 0:
                longest = self._longest_of[name] = np.r_[longest, np.zeros(more, dtype=np.int64)]
            np.maximum.at(longest, codes, behind)

    def _losses(self, events: int) -> list[Loss]:
        late = self._late_by[::-1].cumsum()[::-1]  # late[i]: at least i of the delays are not longer than the skew
        on_time, behind = self._late_by.cumsum(), self._behind_by.cumsum()
        span = self._newest.span
        found = []
        for place, delay in enumerate(map(int, self._delays)):
            lost = int(late[place + 1]) + self._counts.before_1970
            # Little's law: an event that is on time is within the delay while the newest time moves by the delay less its skew.
            waited = float(delay) * int(on_time[place]) - float(behind[place])
            held = min(waited / span, float(on_time[place])) if span else float(on_time[place])
            found.append(Loss(delay, lost, lost / events, held))
        return found

    def _needed(self, distribution: Distribution, events: int, lose: float) -> int:
        """The shortest delay that is enough, a millisecond longer than the skew of the last event that is kept."""
        kept = events - int(lose * events)
        share = min(1.0, kept / distribution.count) if distribution.count else 0.0
        skew = min(self._longest, distribution.percentile(share))
        return 0 if skew == 0 else (skew // _MS + 1) * _MS

    def _groups(self, name: str, delay: int) -> list[GroupSkew]:
        names, longest = self._names[name].all(), self._longest_of[name]
        found = [
            GroupSkew(
                names[number],
                distribution.count,
                percentiles_of(distribution, int(longest[number])),
                int(longest[number]),
                distribution.count - distribution.at_most(delay - 1) if delay else 0,
            )
            for number, distribution in self._by_group[name].groups()
        ]
        return sorted(found, key=lambda group: (-group.percentiles["p99"], -group.longest, group.name))

    def _require_two(self, events: int) -> None:
        beside = [
            f"{count:,} {what}"
            for count, what in (
                (self._counts.unreadable, "without a time that can be read"),
                (self._counts.ahead, "that max_future rejects"),
            )
            if count
        ]
        there = " and ".join(["one event with a usable time" if events else "no event with a usable time", *beside])
        raise ConfigurationError(
            f"The sample has {there}.",
            required="How far an event is behind is measured against the ones before it: two are needed, ten thousand are a good sample.",
            remedy="Name the column of the event time by --time, or take a larger sample.",
        )
