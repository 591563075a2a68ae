"""Signals reach the work as an event; the second one leaves it where it is."""

import os
import signal
import threading

import pytest

from streamproof.cli.interrupting import Interruption, interruptible
from unit.cli.conftest import Clock


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_work_hears_of_a_signal_and_its_result_comes_back(number, code):
    def work(end: threading.Event) -> bool:
        send(number)
        return end.wait(10)

    interruption = Interruption()

    assert interruptible(work, interruption) is True
    assert (interruption.signal, interruption.exit_code) == (number, code)


def test_the_second_signal_leaves_the_work_where_it_is():
    left, clock = threading.Event(), Clock()
    interruption = Interruption(clock)

    def work(end: threading.Event) -> None:
        send(signal.SIGINT)
        end.wait(10)
        clock.now = 1
        send(signal.SIGINT)
        left.wait(10)

    with pytest.raises(KeyboardInterrupt):
        interruptible(work, interruption)
    left.set()
    assert interruption.twice


def test_a_signal_that_comes_again_at_once_is_the_same_one():
    """`timeout` sends it to the process, and then to its group."""
    interruption = Interruption(Clock())
    interruption.heard(signal.SIGTERM, None)
    interruption.heard(signal.SIGTERM, None)

    assert not interruption.twice
    with pytest.raises(KeyboardInterrupt):
        interruption.heard(signal.SIGINT, None)


def test_a_signal_that_is_ignored_stays_so(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert interruptible(lambda end: (send(signal.SIGINT), end.is_set())[1], Interruption()) is False
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_the_work_raises_is_raised_here_and_handlers_are_put_back():
    def work(_: threading.Event) -> None:
        raise ValueError("no rows")

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ValueError, match="no rows"):
        interruptible(work, Interruption())

    assert signal.getsignal(signal.SIGTERM) is before


def test_work_that_nobody_interrupts_runs_where_signals_cannot_be_handled():
    """A command that is called in a thread of somebody's program."""
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(interruptible(lambda _: 7, Interruption())))
    thread.start()
    thread.join()

    assert found == [7]


def test_something_is_done_meanwhile_until_the_work_is_done(monkeypatch):
    monkeypatch.setattr("streamproof.cli.interrupting._LOOK_EVERY_SECONDS", 0.01)
    seen = threading.Event()

    assert interruptible(lambda _: seen.wait(10), Interruption(), seen.set) is True
