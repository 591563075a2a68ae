"""How often each duration was seen, to a thousandth of it, in memory that does not grow with the events.

Below 2 milliseconds each microsecond has a place of its own. Above that, a duration is known by its eleven leading binary digits, as in an HDR
histogram (Gil Tene, hdrhistogram.org). So a value that is read off is never too low, and too high by a thousandth at most.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from streamproof.doctor.skew.chunks import Codes, Micros

_BITS = 10
_FINE = 1 << (_BITS + 1)
_PLACES = 1 << 17
"""More than any duration of 64 bits needs."""
_WAITING = 1 << 20


def places_of(durations: Micros) -> Micros:
    """The place of each duration, which is not negative; a longer one never has a lower place."""
    _, digits = np.frexp(durations.astype(np.float64))
    cut = np.maximum(digits.astype(np.int64) - 1 - _BITS, 0)
    return (cut << _BITS) + (durations >> cut)


def highest_of(place: int) -> int:
    """The longest duration that has a place."""
    if place < _FINE:
        return place
    cut = (place >> _BITS) - 1
    return ((place - (cut << _BITS) + 1) << cut) - 1


class Histogram:
    """Counts durations, by group: only what was seen takes memory.

    Parameters
    ----------
    dropped
        So many of the digits are not kept: with 3 of them a duration is known to a hundredth, in an eighth of the memory.
    """

    def __init__(self, dropped: int = 0) -> None:
        self._dropped = dropped
        self._keys: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._counts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._waiting = 0

    def add(self, durations: Micros, groups: Codes | None = None) -> None:
        """Counts durations, each in its group; without groups all are in group 0."""
        keys = places_of(durations) >> self._dropped
        if groups is not None:
            keys = keys + groups.astype(np.int64) * _PLACES
        unique, counts = np.unique(keys, return_counts=True)
        self._pending.append((unique, counts.astype(np.int64)))
        self._waiting += len(unique)
        if self._waiting > max(_WAITING, len(self._keys)):
            self._settle()

    def groups(self) -> Iterator[tuple[int, "Distribution"]]:
        """Every group that was seen with its distribution."""
        self._settle()
        if not len(self._keys):
            return
        of = self._keys // _PLACES
        starts = np.flatnonzero(np.r_[True, of[1:] != of[:-1]])
        for start, end in zip(starts, np.r_[starts[1:], len(of)], strict=True):
            yield int(of[start]), Distribution(self._keys[start:end] % _PLACES, self._counts[start:end], self._dropped)

    def whole(self) -> "Distribution":
        """The distribution where there are no groups."""
        return next((found for _, found in self.groups()), Distribution(self._keys, self._counts))

    def _settle(self) -> None:
        if not self._pending:
            return
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._pending)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._pending)])
        self._keys, places = np.unique(keys, return_inverse=True)
        added = np.zeros(len(self._keys), dtype=np.int64)
        np.add.at(added, places, counts)
        self._counts, self._pending, self._waiting = added, [], 0


class Distribution:
    """Durations with their counts, read off by place."""

    def __init__(self, places: NDArray[np.int64], counts: NDArray[np.int64], dropped: int = 0) -> None:
        self._places, self._total, self._dropped = places, counts.cumsum(), dropped

    @property
    def count(self) -> int:
        return int(self._total[-1]) if len(self._total) else 0

    def percentile(self, share: float) -> int:
        """The shortest duration that so large a share of all is not longer than: 0.99 for p99; 0 where there are none."""
        if not self.count:
            return 0
        wanted = max(1, math.ceil(share * self.count - 1e-9))
        place = int(self._places[int(np.searchsorted(self._total, wanted))])
        return highest_of(((place + 1) << self._dropped) - 1)

    def at_most(self, duration: int) -> int:
        """How many are not longer than a duration, as exactly as it is known."""
        place = int(places_of(np.array([duration], dtype=np.int64))[0]) >> self._dropped
        found = int(np.searchsorted(self._places, place, side="right"))
        return int(self._total[found - 1]) if found else 0
