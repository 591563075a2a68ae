"""The twin of hopping windows."""

from dataclasses import dataclass
from typing import ClassVar

from streamproof.prove.oracle.windows.window import PlainWindow


@dataclass(frozen=True)
class PlainHopping(PlainWindow):
    """Windows of one size, one beginning every `every_us`."""

    size_us: int
    every_us: int
    offset_us: int = 0
    several: ClassVar[bool] = True

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        newest = instant_us - (instant_us - self.offset_us) % self.every_us
        starts = range(newest, instant_us - self.size_us, -self.every_us)
        return [(start, start + self.size_us) for start in sorted(starts)]

    def last_late(self, bound_us: int, tick_us: int) -> int:
        """The newest window of an instant ends last: it must begin a size before the bound."""
        begins = bound_us - self.size_us
        newest = begins - (begins - self.offset_us) % self.every_us
        return newest + self.every_us - tick_us
