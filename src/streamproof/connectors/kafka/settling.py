"""News of a topic reach the brokers one after another: who does not know one is asked again, for a while."""

import threading
from collections.abc import Callable
from typing import TypeVar

from streamproof.core.clock import monotonic_seconds

SETTLES_SECONDS = 3.0
"""For so long a broker may not know a topic that another one knows."""

_AGAIN_SECONDS = 0.05

T = TypeVar("T")


def settled(ask: Callable[[], T], is_unknown: Callable[[T], bool]) -> T:
    """The first answer that says of no topic that it is unknown, else the last one within `SETTLES_SECONDS`."""
    end = monotonic_seconds() + SETTLES_SECONDS
    while True:
        answer = ask()
        if not is_unknown(answer) or monotonic_seconds() > end:
            return answer
        threading.Event().wait(_AGAIN_SECONDS)
