"""What was measured: how far events are behind the newest before them, what each delay would lose, and which delay is enough."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from streamproof.core.durations import format_duration
from streamproof.doctor.skew.histogram import Distribution

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
_MS, _SECOND = 1_000, 1_000_000
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3_600 * _SECOND, 86_400 * _SECOND
LADDER: tuple[int, ...] = (
    *(count * _MS for count in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(count * _SECOND for count in (1, 2, 5, 10, 15, 20, 30)),
    *(count * _MINUTE for count in (1, 2, 3, 5, 10, 15, 20, 30)),
    *(count * _HOUR for count in (1, 2, 3, 4, 6, 8, 12)),
    *(count * _DAY for count in (1, 2, 3, 5, 7, 10, 14, 21, 30, 60, 90, 180, 365)),
)
"""Delays as people say them, in microseconds; what each loses is counted exactly."""


@dataclass(frozen=True)
class Loss:
    """What a job with this delay would lose of the sample, and what it would keep in state.

    Parameters
    ----------
    delay_us
        The delay in microseconds.
    events
        How many events are late: the newest time of the batches before is at least the delay ahead of them.
    share
        The same as a share of all events with a usable time.
    held
        How many events are within the delay on average: what a deduplication remembers.
    """

    delay_us: int
    events: int
    share: float
    held: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "lag": written(self.delay_us),
            "lag_us": self.delay_us,
            "late": self.events,
            "share": self.share,
            "held": round(self.held, 1),
        }


@dataclass(frozen=True)
class GroupSkew:
    """How far the events of one key, file or partition are behind the newest of all before them."""

    name: str
    events: int
    percentiles: Mapping[str, int]
    longest: int
    late: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "events": self.events,
            "percentiles_us": dict(self.percentiles),
            "longest_us": self.longest,
            "late": self.late,
        }


@dataclass(frozen=True)
class Judging:
    """How events are judged.

    Parameters
    ----------
    batch
        Events in a batch. With 1 each event is judged by all before it: the worst case, whatever the batches.
    max_future_us
        How far ahead of the clock an event may be; None where any may.
    clock_known
        Whether the order of arrival is a clock.
    """

    batch: int = 1
    max_future_us: int | None = None
    clock_known: bool = False


@dataclass
class Counts:
    """How many records there are of each sort.

    Parameters
    ----------
    events
        Those with a usable event time; those that `max_future` rejects are not among them.
    unreadable, ahead, before_1970
        Those without one, those that `max_future` rejects, and those at or before 1970, which are late whatever the delay.
    in_order
        Events that are not behind any before them.
    """

    events: int = 0
    unreadable: int = 0
    ahead: int = 0
    before_1970: int = 0
    in_order: int = 0


@dataclass(frozen=True)
class Delays:
    """What delays lose.

    Parameters
    ----------
    losses
        For each delay that was counted, the shortest first.
    wanted
        The share that may be lost.
    chosen
        The delay of `losses` that is recommended; None where none is enough.
    needed_us
        The shortest delay that would be enough, in whole milliseconds, to a thousandth of it.
    """

    losses: Sequence[Loss]
    wanted: float
    chosen: Loss | None
    needed_us: int


@dataclass(frozen=True)
class Skew:
    """The measure of a sample.

    Parameters
    ----------
    distribution, longest
        How far each event is behind, in microseconds; 0 for one that is in order.
    groups
        By dimension ("key", "partition", "file") the groups, the one that is furthest behind first.
    lumped
        The dimensions with more groups than are told apart.
    leap_us
        The longest step of the newest event time from one event to the next.
    judging
        How the events were judged.
    """

    counts: Counts
    distribution: Distribution
    longest: int
    delays: Delays
    groups: Mapping[str, Sequence[GroupSkew]]
    lumped: Sequence[str]
    leap_us: int
    judging: Judging

    @property
    def percentiles(self) -> dict[str, int]:
        """In microseconds, to a thousandth; none above the longest."""
        return percentiles_of(self.distribution, self.longest)

    def as_dict(self) -> dict[str, Any]:
        """For programs; durations in microseconds."""
        return {
            "events": self.counts.events,
            "unreadable": self.counts.unreadable,
            "before_1970": self.counts.before_1970,
            "in_order": self.counts.in_order,
            "percentiles_us": self.percentiles,
            "longest_us": self.longest,
            "batch": self.judging.batch,
            "lose": self.delays.wanted,
            "recommended": None if self.delays.chosen is None else self.delays.chosen.as_dict(),
            "needed_us": self.delays.needed_us,
            "lags": [loss.as_dict() for loss in self.delays.losses],
            "max_future": {
                "limit_us": self.judging.max_future_us,
                "rejected": self.counts.ahead,
                "clock": "arrival" if self.judging.clock_known else "neighbours",
                "longest_leap_us": self.leap_us,
            },
            "groups": {name: [group.as_dict() for group in groups] for name, groups in self.groups.items()},
        }


def percentiles_of(distribution: Distribution, longest: int) -> dict[str, int]:
    return {name: min(longest, distribution.percentile(share)) for name, share in PERCENTILES.items()}


def written(micros: int) -> str:
    """A delay as the configuration takes it: "5 minutes"."""
    return format_duration(timedelta(microseconds=micros))
