"""The twin of tumbling windows."""

from dataclasses import dataclass

from streamproof.prove.oracle.windows.window import PlainWindow


@dataclass(frozen=True)
class PlainTumbling(PlainWindow):
    """Windows of one size side by side, the first at `offset_us` behind 1970-01-01T00:00:00Z."""

    size_us: int
    offset_us: int = 0

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        start = instant_us - (instant_us - self.offset_us) % self.size_us
        return [(start, start + self.size_us)]

    def last_late(self, bound_us: int, tick_us: int) -> int:
        return bound_us - (bound_us - self.offset_us) % self.size_us - tick_us
