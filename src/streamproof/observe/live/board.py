"""What hears the events of a run for its page, and knows what the page shows at any moment."""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from streamproof.config import secret
from streamproof.errors import StreamproofError
from streamproof.observe.live.picture import Picture, after, closed, failed
from streamproof.observe.live.shown import shown_run, without_secrets
from streamproof.observe.live.standing import Standing, standing
from streamproof.observe.live.troubles import Trouble
from streamproof.observe.moment import Moment, moment
from streamproof.runtime.watching.events import RunEvent

Clock = Callable[[], Moment]


class Board(Protocol):
    """What a page shows: plain values at any moment, and a call where they have changed."""

    def now(self) -> Mapping[str, Any]:
        """What there is to show, as plain values without a secret in them."""

    def tell(self, changed: Callable[[], None]) -> None:
        """Has `changed` called, from any thread, whenever there is something new."""

    def close(self, problem: BaseException | None) -> None:
        """Nothing comes any more: it is over, by an error or without one."""


class RunBoard:
    """A listener of a run, whose picture it keeps. Events come from the threads of the run, and whoever looks from another.

    Parameters
    ----------
    job
        The name of the job.
    """

    def __init__(self, job: str, clock: Clock = moment) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._picture = Picture(job, clock())
        self._standing: Standing | None = None
        self._changed: Callable[[], None] = _nobody

    def __call__(self, event: RunEvent) -> None:
        """Hears an event: some microseconds of work, and no wait for a browser."""
        at = self._clock()
        with self._lock:
            self._picture = after(self._picture, event, at)
            self._standing = standing(self._picture, at.steady, self._standing)
        self._changed()

    def tell(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def now(self) -> Mapping[str, Any]:
        at = self._clock()
        with self._lock:
            picture = self._picture
            self._standing = judged = standing(picture, at.steady, self._standing)
        found: Mapping[str, Any] = without_secrets(shown_run(picture, judged, at), secret.redact)
        return found

    def close(self, problem: BaseException | None) -> None:
        at = self._clock()
        with self._lock:
            told = self._picture.ended is not None and self._picture.ended.error is not None
            if isinstance(problem, StreamproofError) and told and problem.failure is not None:
                pass  # the run has said it, with all that is around it
            elif isinstance(problem, StreamproofError):
                todo = "\n".join(part for part in (problem.required, problem.remedy) if part)
                self._picture = failed(self._picture, at, Trouble(at.wall, problem.code, problem.message, todo))
            elif isinstance(problem, Exception):
                self._picture = failed(self._picture, at, Trouble(at.wall, type(problem).__name__, str(problem)))
            else:
                self._picture = closed(self._picture, at)
        with suppress(Exception):  # whoever shows it may be gone already
            self._changed()


def _nobody() -> None:
    """Nobody looks yet."""
