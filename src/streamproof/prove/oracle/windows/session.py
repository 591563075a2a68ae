"""The twin of session windows."""

from dataclasses import dataclass
from typing import ClassVar

from streamproof.prove.oracle.windows.window import PlainWindow


@dataclass(frozen=True)
class PlainSession(PlainWindow):
    """A window from an instant to `gap_us` behind it; those of a key that meet become one."""

    gap_us: int
    merges: ClassVar[bool] = True

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        return [(instant_us, instant_us + self.gap_us)]

    def last_late(self, bound_us: int, tick_us: int) -> int:
        last = bound_us - self.gap_us
        return last - last % tick_us
