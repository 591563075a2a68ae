"""The twin of session windows."""

from dataclasses import dataclass
from typing import ClassVar

from streamproof.prove.oracle.windows.window import PlainWindow


@dataclass(frozen=True)
class PlainSession(PlainWindow):
    """A window from an instant to `gap_us` behind it; those of a key that meet become one, but never across a multiple of `longest_us`."""

    gap_us: int
    longest_us: int | None = None
    merges: ClassVar[bool] = True

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        return [(instant_us, instant_us + self.gap_us)]

    def may_merge(self, start_us: int, other_us: int) -> bool:
        return self.longest_us is None or start_us // self.longest_us == other_us // self.longest_us

    def last_late(self, bound_us: int, tick_us: int) -> int:
        last = bound_us - self.gap_us
        return last - last % tick_us
