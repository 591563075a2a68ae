"""When something was heard: ages go by a clock that cannot jump."""

from dataclasses import dataclass
from datetime import datetime

from streamproof.core.clock import monotonic_seconds, now_utc


@dataclass(frozen=True)
class Moment:
    """When something was heard: by the wall clock, which can jump, and by one that cannot, in seconds."""

    wall: datetime
    steady: float


def moment() -> Moment:
    """Now, by both clocks."""
    return Moment(now_utc(), monotonic_seconds())
