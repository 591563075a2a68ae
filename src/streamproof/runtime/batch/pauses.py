"""How long to wait before asking an output that is down again: the pauses grow, and each has a random part (R8)."""

from collections.abc import Callable
from dataclasses import dataclass

from streamproof.core.clock import monotonic_seconds
from streamproof.core.randomness import Seeded

FIRST_SECONDS, LONGEST_SECONDS = 0.5, 30.0


@dataclass
class Pause:
    """The pauses of one output. Each is twice as long as the one before, up to half a minute; up to half of it is taken off at random.

    Parameters
    ----------
    name
        Whose pauses they are: those of several jobs on one store lie apart.
    clock
        Gives the seconds.
    """

    name: str
    clock: Callable[[], float] = monotonic_seconds
    tries: int = 0
    _until: float = 0.0

    def __post_init__(self) -> None:
        self._random = Seeded(0, self.name)

    def begin(self) -> None:
        """A try has failed."""
        longest = min(FIRST_SECONDS * 2.0 ** min(self.tries, 30), LONGEST_SECONDS)
        self.tries += 1
        self._until = self.clock() + longest * self._random.between(0.5, 1.0)

    @property
    def seconds_left(self) -> float:
        """How many seconds are left before the output may be asked; zero if it may be asked now."""
        return max(0.0, self._until - self.clock()) if self.tries else 0.0
