"""The newest event time before each event, as Spark's watermark knows it: of the batches before the event's own."""

import numpy as np
from numpy.typing import NDArray

from streamproof.doctor.skew.chunks import Micros

NONE_YET = -(2**62)


class NewestTimes:
    """Told the event times in the order of their arrival; `batch` is how many events are one batch."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self._position = 0
        self._newest = self._before_batch = NONE_YET
        self._oldest: int | None = None
        self.leap = 0
        """The longest step of the newest event time from one event to the next."""

    @property
    def span(self) -> int:
        """How far the newest event time has moved."""
        return self._newest - self._oldest if self._oldest is not None else 0

    def before(self, times: Micros, refused: NDArray[np.bool_]) -> Micros:
        """The newest event time of the batches before that of each event; `NONE_YET` in the first batch."""
        offered = np.where(refused, NONE_YET, times)
        newest = np.maximum(np.maximum.accumulate(offered), self._newest)
        so_far = np.r_[self._newest, newest]  # so_far[i]: before event i
        steps = np.diff(so_far[so_far > NONE_YET])
        self.leap = max(self.leap, int(steps.max(initial=0)))
        if self._oldest is None and newest[-1] > NONE_YET:
            self._oldest = int(newest[newest > NONE_YET][0])
        numbers = self._position + np.arange(len(times) + 1)
        starts = numbers // self._batch * self._batch - self._position
        before = np.where(starts >= 0, so_far[np.maximum(starts, 0)], self._before_batch)
        self._position += len(times)
        self._newest, self._before_batch = int(newest[-1]), int(before[-1])
        return np.asarray(before[:-1])
