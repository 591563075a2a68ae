"""The functions of PromQL that the conditions of alerts call, as Prometheus 3 has them (promql/functions.go)."""

import itertools
from collections.abc import Callable, Mapping, Sequence

Point = tuple[float, float]
"""Seconds since 1970, and a value."""
OverRange = Callable[[Sequence[Point], float, float, Sequence[float]], "float | None"]
"""A function of the samples within a range: these samples, the moment, how long the range is in seconds, and its other arguments."""


def _risen(points: Sequence[Point]) -> float:
    """By how much a counter has risen from the first sample to the last; it falls where its process has begun anew."""
    values = [value for _, value in points]
    return sum(after - before if after >= before else after for before, after in itertools.pairwise(values))


def _increase(points: Sequence[Point], moment: float, length: float, _: Sequence[float]) -> float | None:
    """The rise, and what it would be up to the ends of the range if those are near."""
    if len(points) < 2:
        return None
    (first, first_value), (last, _value) = points[0], points[-1]
    risen, sampled = _risen(points), last - first
    between = sampled / (len(points) - 1)
    to_start, to_end = first - (moment - length), moment - last
    near = between * 1.1
    to_start = to_start if to_start < near else between / 2
    to_end = to_end if to_end < near else between / 2
    if risen > 0 and first_value >= 0:
        to_start = min(to_start, sampled * first_value / risen)  # a counter is not below zero
    return risen * (sampled + to_start + to_end) / sampled


def _rate(points: Sequence[Point], moment: float, length: float, more: Sequence[float]) -> float | None:
    found = _increase(points, moment, length, more)
    return None if found is None else found / length


def _changes(points: Sequence[Point], *_: object) -> float:
    return float(sum(before != after for (_, before), (_, after) in itertools.pairwise(points)))


def _least(points: Sequence[Point], *_: object) -> float:
    return min(value for _, value in points)


def _newest(points: Sequence[Point], *_: object) -> float:
    return points[-1][1]


def _line(points: Sequence[Point], origin: float) -> tuple[float, float]:
    """Slope and height at `origin` of the straight line that lies nearest to the points."""
    times, values = [at - origin for at, _ in points], [value for _, value in points]
    count, mean_time, mean = len(points), sum(times) / len(points), sum(values) / len(points)
    spread = sum((at - mean_time) ** 2 for at in times) / count
    slope = (
        sum((at - mean_time) * (value - mean) for at, value in zip(times, values, strict=True)) / count / spread if spread else 0.0
    )
    return slope, mean - slope * mean_time


def _deriv(points: Sequence[Point], *_: object) -> float | None:
    return _line(points, points[0][0])[0] if len(points) > 1 else None


def _predict_linear(points: Sequence[Point], moment: float, _: float, more: Sequence[float]) -> float | None:
    if len(points) < 2:
        return None
    slope, height = _line(points, moment)
    return height + slope * more[0]


OVER_RANGE: Mapping[str, OverRange] = {
    "changes": _changes,
    "deriv": _deriv,
    "increase": _increase,
    "last_over_time": _newest,
    "min_over_time": _least,
    "predict_linear": _predict_linear,
    "rate": _rate,
}
OF_VALUES: Mapping[str, Callable[..., float]] = {"abs": abs, "clamp_max": min, "clamp_min": max}
"""Functions of each value of a vector, and of numbers."""
