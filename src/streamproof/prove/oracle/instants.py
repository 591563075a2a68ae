"""Instants: microseconds UTC that know what they are, where that is known."""

from typing import Any


class Instant(int):
    """An instant, and what is an interval away from it; an instant less an instant is an interval, a plain number of microseconds."""

    def __add__(self, other: Any) -> Any:
        found = int.__add__(self, other)
        return found if found is NotImplemented else Instant(found)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        found = int.__sub__(self, other)
        return found if found is NotImplemented or isinstance(other, Instant) else Instant(found)
