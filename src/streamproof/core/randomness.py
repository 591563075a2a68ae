"""Seeded randomness: the same seed and path give the same numbers on every machine and every Python version.

Only `random.Random.random()` is used from the standard library, since it is the one method whose sequence Python guarantees
between versions; everything else is derived from it here.
"""

import hashlib
import math
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Seeded:
    """A stream of random numbers named by a seed and a path of words."""

    def __init__(self, seed: int, *path: str) -> None:
        digest = hashlib.sha256("/".join((str(seed), *path)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return self._random.random()

    def between(self, low: float, high: float) -> float:
        """A number in [low, high)."""
        return low + (high - low) * self.uniform()

    def below(self, limit: int) -> int:
        """A whole number in [0, limit)."""
        return int(self.uniform() * limit)

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.uniform() < probability

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, each equally likely."""
        return items[self.below(len(items))]

    def exponential(self, mean: float) -> float:
        """A waiting time with the given mean."""
        return -mean * math.log(1.0 - self.uniform())

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in random order (Fisher and Yates)."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed
