"""The values that metrics have now: a listener of a run that keeps them."""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan

from streamproof.observe.metric import QUERY, SECONDS, Kind, Metric
from streamproof.observe.metrics import METRICS
from streamproof.observe.moment import Moment, moment
from streamproof.runtime.watching import events
from streamproof.runtime.watching.death_events import QueryDied, QueryStopped
from streamproof.runtime.watching.events import RunEvent
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedStarted

_JUMP_SECONDS = 2.0
MOST_SERIES = 1_000
"""Of one metric: each series costs memory here and in Prometheus. A new one takes the place of those of the query that ended longest ago; where
all queries of a metric run, it is counted, and not shown."""
_BEGUN = events.QueryStarted | WatchedStarted
_OVER = events.QueryEnded | QueryDied | QueryStopped | WatchedEnded


@dataclass
class Durations:
    """Durations, counted by size: how many are at most as long as each bound, and longer than all."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds


def _offset(at: Moment) -> float:
    return at.wall.timestamp() - at.steady


class _Steady(float):
    """A moment, by the steady clock."""


Value = float | Durations


class Values:
    """Hears the events of one run, and knows what each metric is now. Events come from one thread, whoever asks from another.

    Parameters
    ----------
    metrics
        Those to keep.
    clock
        Now, by both clocks. Moments are kept by the steady one: their age is what it is, also where the wall clock jumps.
    """

    def __init__(self, metrics: Sequence[Metric] = METRICS, clock: Callable[[], Moment] = moment) -> None:
        self.metrics = metrics
        self._clock, self._offset = clock, _offset(clock())
        """What the steady clock lacks to the wall clock; another one once that jumps."""
        self._lock = threading.Lock()
        self._series: dict[str, dict[tuple[str, ...], Value]] = {metric.name: {} for metric in metrics}
        self._left_out: dict[str, int] = {}
        self._ended: dict[str, None] = {}
        """Queries that have ended, the one that ended longest ago first."""

    def __call__(self, event: RunEvent) -> None:
        now = _Steady(self._clock().steady)
        with self._lock:
            self._keep_ended(event)
            for metric in self.metrics:
                if metric.while_running and isinstance(event, _OVER):
                    self._end(metric, event.query)
                reading = metric.readings.get(type(event))
                if reading is not None:
                    for labels, value in reading(event):
                        self._take(metric, labels, now if isnan(value) else value)

    def now(self, metric: Metric) -> Mapping[tuple[str, ...], Value]:
        """The series of a metric: by the values of its labels, a number, or durations counted by size."""
        at = self._clock()
        with self._lock:
            offset = _offset(at)
            if abs(offset - self._offset) > _JUMP_SECONDS:  # else a moment would be told a little otherwise each time
                self._offset = offset
            return {
                labels: Durations([*value.counts], value.total) if isinstance(value, Durations) else self._told(value)
                for labels, value in self._series[metric.name].items()
            }

    def _told(self, value: float) -> float:
        """A number as it is; a moment by the wall clock of now."""
        return value + self._offset if isinstance(value, _Steady) else value

    def left_out(self) -> Iterator[tuple[str, int]]:
        """Metrics that have more series than are kept, with how many readings were passed over for it."""
        with self._lock:
            yield from [*self._left_out.items()]

    def _keep_ended(self, event: RunEvent) -> None:
        """Which queries have ended. A query that is started anew without a checkpoint has another name each time, so no more are kept than series."""
        if isinstance(event, _BEGUN | _OVER):
            self._ended.pop(event.query, None)
        if isinstance(event, _OVER):
            self._ended[event.query] = None
        while len(self._ended) > MOST_SERIES:
            longest_ago = next(iter(self._ended))
            del self._ended[longest_ago]
            for metric in self.metrics:
                self._end(metric, longest_ago)

    def _make_room(self, metric: Metric) -> bool:
        """Whether there is room for a series more, once those of the query that ended longest ago are gone."""
        place, series = metric.labels.index(QUERY), self._series[metric.name]
        if len(series) >= MOST_SERIES and self._ended:
            there = {labels[place] for labels in series}
            longest_ago = next((query for query in self._ended if query in there), None)
            if longest_ago is not None:
                self._end(metric, longest_ago)
        return len(series) < MOST_SERIES

    def _take(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        series = self._series[metric.name]
        if metric.kind is Kind.INFO:
            self._end(metric, labels[metric.labels.index(QUERY)])
        if labels not in series and not self._make_room(metric):
            self._left_out[metric.name] = self._left_out.get(metric.name, 0) + 1
            return
        if metric.kind in (Kind.GAUGE, Kind.INFO):
            series[labels] = value
        elif metric.kind is Kind.COUNTER:
            before = series.get(labels, 0.0)
            assert not isinstance(before, Durations), metric
            series[labels] = before + value
        else:
            durations = series.setdefault(labels, Durations())
            assert isinstance(durations, Durations), metric
            durations.add(value)

    def _end(self, metric: Metric, query: str) -> None:
        place, series = metric.labels.index(QUERY), self._series[metric.name]
        for labels in [labels for labels in series if labels[place] == query]:
            del series[labels]
