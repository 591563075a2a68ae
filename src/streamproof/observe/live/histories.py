"""What a picture keeps of the last hour, bounded: event times, the lag of partitions, the size of states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from streamproof.connectors.lag import Lag
from streamproof.runtime.watching.figures import OperatorState

HOUR = 3_600.0
MOST_POINTS = 120
MOST_PARTITIONS = 1_000
"""Of one topic: of those beyond them only the sum is kept."""
MOST_TOPICS = 50
MOST_OPERATORS = 50


@dataclass(frozen=True)
class Point:
    """Watermark and newest event time at a commit, by the steady clock."""

    at: float
    watermark: datetime | None
    newest: datetime | None


@dataclass(frozen=True)
class Sum:
    """The lag of a whole topic at a commit."""

    at: float
    lag: int


@dataclass(frozen=True)
class Size:
    """How large a state was at a commit; None where that is not counted."""

    at: float
    rows: int | None
    bytes: int


@dataclass(frozen=True)
class Topic:
    """How much of a topic is left to read.

    Parameters
    ----------
    partitions, before
        By partition the lag at the newest commit, and at the one before.
    more, more_lag
        How many partitions are beyond those that are kept, and the lag of these together.
    sums
        The lag of the whole topic at the commits of the last hour.
    """

    source: str
    name: str
    partitions: Mapping[int, int]
    before: Mapping[int, int] = field(default_factory=dict)
    more: int = 0
    more_lag: int = 0
    sums: tuple[Sum, ...] = ()

    @property
    def lag(self) -> int:
        return sum(self.partitions.values()) + self.more_lag


@dataclass(frozen=True)
class State:
    """What an operator holds; `place` counts from the output. `sizes` are those of the last hour.
    `dropped` is how many rows Spark has dropped there as late since the watch began; None where it is not asked.
    """

    place: int
    operator: str
    rows: int | None
    bytes: int
    on_disk: bool
    sizes: tuple[Size, ...] = ()
    dropped: int | None = None


_Dated = TypeVar("_Dated", Point, Sum, Size)


def thinned(points: tuple[_Dated, ...]) -> tuple[_Dated, ...]:
    """The points of the hour before the newest one; every second one of them where they are too many, the newest always."""
    if not points:
        return points
    oldest = points[-1].at - HOUR
    recent: tuple[_Dated, ...] = tuple(point for point in points if point.at >= oldest)
    return recent if len(recent) <= MOST_POINTS else recent[:-1][::2] + recent[-1:]


def topics_after(topics: Sequence[Topic], lags: Sequence[Lag], at: float) -> tuple[Topic, ...]:
    """The topics once a batch has said how much was left; as they were where it says nothing."""
    if not lags:
        return tuple(topics)
    known = {(topic.source, topic.name): topic for topic in topics}
    told: dict[tuple[str, str], dict[int, int]] = {}
    for lag in lags:
        told.setdefault((lag.source, lag.topic), {})[lag.partition] = lag.lag
    found = []
    for (source, name), partitions in [*told.items()][:MOST_TOPICS]:
        before = known.get((source, name))
        most = sorted(partitions, key=lambda partition: (-partitions[partition], partition))
        kept = {partition: partitions[partition] for partition in sorted(most[:MOST_PARTITIONS])}
        rest = most[MOST_PARTITIONS:]
        now = Topic(source, name, kept, before.partitions if before else {}, len(rest), sum(partitions[one] for one in rest))
        found.append(replace(now, sums=thinned((*(before.sums if before else ()), Sum(at, now.lag)))))
    return tuple(found)


def state_after(states: Sequence[State], told: Sequence[OperatorState], at: float) -> tuple[State, ...]:
    """The states once a batch has said what they hold; as they were where it says nothing."""
    if not told:
        return tuple(states)
    known = {(state.place, state.operator): state for state in states}
    found = []
    for place, each in enumerate(told[:MOST_OPERATORS]):
        size = each.memory_bytes if each.disk_bytes is None else each.disk_bytes
        before = known.get((place, each.operator))
        sizes = thinned((*(before.sizes if before else ()), Size(at, each.rows, size)))
        dropped = None if each.dropped is None else each.dropped + ((before.dropped if before else None) or 0)
        found.append(State(place, each.operator, each.rows, size, each.disk_bytes is not None, sizes, dropped))
    return tuple(found)
