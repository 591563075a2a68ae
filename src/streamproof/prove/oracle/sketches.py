"""The exact answers that sketches stand for, each of which says what lies within the stated error of it.

Of a sketch the oracle knows what the user asked for: the kind, the values and the error. What the sketch keeps it does not know.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_ROUNDING = 1e-9


class Exact(ABC):
    """An exact answer, and the values that are within the stated error of it."""

    @abstractmethod
    def takes(self, found: Any) -> bool:
        """Whether a value lies within the stated error."""

    @abstractmethod
    def __str__(self) -> str:
        """The exact answer, and what else would do."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class ExactPercentile(Exact):
    """A percentile of sorted values: any of them whose rank is at most `error` x their number + 1 from the rank it must have."""

    values: Sequence[Any]
    share: float
    error: float

    @property
    def _ranks(self) -> tuple[int, int]:
        """The first rank that will do and the last, from 1."""
        count = len(self.values)
        off = math.floor(self.error * count + _ROUNDING) + 1
        rank = max(1, math.ceil(self.share * count - _ROUNDING))
        return max(1, rank - off), min(count, rank + off)

    def takes(self, found: Any) -> bool:
        number = as_number(found)
        if not self.values or number is None:
            return not self.values and found is None
        first, last = self._ranks
        return any(math.isclose(float(value), number, rel_tol=_ROUNDING) for value in self.values[first - 1 : last])

    def __str__(self) -> str:
        if not self.values:
            return "none, of no values"
        first, last = self._ranks
        rank = max(1, math.ceil(self.share * len(self.values) - _ROUNDING))
        between = f"{self.values[first - 1]} to {self.values[last - 1]}"
        return f"{self.values[rank - 1]} ({between} would do: ranks {first:,} to {last:,} of {len(self.values):,})"


@dataclass(frozen=True, repr=False)
class ExactDistinct(Exact):
    """A number of different values; any that is at most `error` of it away, never less than one."""

    count: int
    error: float

    @property
    def _off(self) -> float:
        return max(1.0, self.error * self.count)

    def takes(self, found: Any) -> bool:
        number = as_number(found)
        if self.count == 0 or number is None:
            return number == 0
        return abs(number - self.count) <= self._off + _ROUNDING

    def __str__(self) -> str:
        first, last = math.ceil(self.count - self._off), math.floor(self.count + self._off)
        return f"{self.count:,} ({max(0, first):,} to {last:,} would do)" if self.count else "0"


@dataclass(frozen=True, repr=False)
class ExactTop(Exact):
    """The counts of all values; any list whose counts are at most `error` x all away, and that leaves out no value that came by more more often."""

    counts: Mapping[Any, int]
    k: int
    error: float

    @classmethod
    def of(cls, values: Iterable[Any], k: int, error: float) -> "ExactTop":
        return cls(Counter(values), k, error)

    @property
    def _off(self) -> float:
        return self.error * sum(self.counts.values()) + _ROUNDING

    def takes(self, found: Any) -> bool:
        if not isinstance(found, list | tuple) or len(found) > self.k:
            return False
        given = [pair for pair in map(_pair, found) if pair is not None]
        if len(given) < len(found):
            return False
        counts = dict(given)
        in_order = [count for _, count in given] == sorted((count for _, count in given), reverse=True)
        if len(counts) < len(given) or not in_order:
            return False
        near = all(abs(count - self.counts.get(item, 0)) <= self._off for item, count in counts.items())
        least = min(counts.values()) if len(given) == self.k else 0
        return near and all(count <= least + self._off for item, count in self.counts.items() if item not in counts)

    def __str__(self) -> str:
        shown = sorted(self.counts.items(), key=lambda one: (-one[1], str(one[0])))[: self.k]
        said = ", ".join(f"{item}: {count:,}" for item, count in shown)
        return f"{said} ({math.floor(self._off):,} off would do)" if shown else "none, of no values"


def as_number(found: Any) -> float | None:
    """A number, also one that a store has as text; None of anything else."""
    if isinstance(found, bool) or not isinstance(found, int | float | Decimal | str):
        return None
    with suppress(ValueError):
        return float(found)
    return None


def _pair(entry: Any) -> tuple[Any, int] | None:
    """An item and its count, however a format holds them."""
    if isinstance(entry, Mapping):
        return (entry.get("item"), entry["count"]) if "count" in entry else None
    return (entry[0], entry[1]) if isinstance(entry, list | tuple) and len(entry) == 2 else None


def exact_of(sketch: Any, values: Sequence[Any]) -> Exact:
    """The exact answer to what a sketch was asked for, over values in any order."""
    if sketch.kind == "percentile":
        return ExactPercentile(sorted(value for value in values if value is not None), sketch.share, sketch.error)
    if sketch.kind == "distinct":
        return ExactDistinct(len({value for value in values if value is not None}), sketch.error)
    return ExactTop.of(values, sketch.k, sketch.error)
