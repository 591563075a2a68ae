"""Ctrl-C and SIGTERM: the work hears of it and ends where it can; asked twice, it is left where it is."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from streamproof.core.clock import monotonic_seconds

_LOOK_EVERY_SECONDS = 1
_LOOKS = 5
_SAME_SECONDS = 0.5
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_Handler = Callable[[int, FrameType | None], None]
_Result = TypeVar("_Result")


class Interruption:
    """Whether the work was asked to end, and by which signal."""

    def __init__(self, clock: Callable[[], float] = monotonic_seconds) -> None:
        self.asked = threading.Event()
        self.signal: signal.Signals | None = None
        self.twice = False
        self._clock, self._at = clock, 0.0

    @property
    def exit_code(self) -> int:
        """What shells call a process that a signal has ended: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + (self.signal or signal.SIGINT)

    def heard(self, number: int, _: FrameType | None) -> None:
        """A signal has come; KeyboardInterrupt with the second, unless it is the first one again: `timeout` sends it to us, and to our group."""
        if self.asked.is_set():
            if number == self.signal and self._clock() - self._at < _SAME_SECONDS:
                return
            self.twice = True
            raise KeyboardInterrupt
        self.signal, self._at = signal.Signals(number), self._clock()
        self.asked.set()


def interruptible(
    work: Callable[[threading.Event], _Result],
    interruption: Interruption,
    meanwhile: Callable[[], None] | None = None,
    stopping: Callable[[], None] | None = None,
) -> _Result:
    """Does the work in a thread of its own and returns what it returns; a signal sets the event that the work is given.

    `meanwhile` is called here every second until it is done; `stopping` at once, when the work is asked to end.

    Python handles signals in the main thread, between any two of its steps. There they would meet half a conversation with the JVM, which
    nothing could go on with; and there Spark's own handler, which talks to the JVM too, would be installed.

    Raises
    ------
    KeyboardInterrupt
        At the second signal; the work is left where it is.
    """
    done: Future[_Result] = Future()

    def working() -> None:
        try:
            done.set_result(work(interruption.asked))
        except BaseException as problem:  # noqa: BLE001 -- it is raised where the result is asked for
            done.set_exception(problem)

    with _handled(interruption.heard):
        threading.Thread(target=working, name="work", daemon=True).start()
        looks = 0
        while not wait({done}, _LOOK_EVERY_SECONDS / _LOOKS).done:  # a signal that another thread has got wakes nobody here
            looks += 1
            if interruption.asked.is_set() and stopping is not None:
                stopping()
                stopping = None
            if meanwhile is not None and looks % _LOOKS == 0:
                meanwhile()
        return done.result()


@contextmanager
def _handled(handler: _Handler) -> Iterator[None]:
    """Lets a handler have the signals; only the main thread may, and elsewhere nothing is changed. One that is ignored stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, handled in before.items():
            signal.signal(number, handled)
