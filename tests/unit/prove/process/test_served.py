"""Calls in the process of a proof: each gets its own answer or none, hears that it is to end, and outlives nobody."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamproof.errors import StreamproofError
from streamproof.prove.process import apart, served


def gives(*, what: object, listener: Any, end: threading.Event) -> object:
    listener(what)
    time.sleep(0.3)
    return what


def waits(*, seconds: float, listener: Any, end: threading.Event) -> bool:
    listener("waits")
    return end.wait(seconds)


def kills_itself(*, listener: Any, end: threading.Event) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def gives_a_lock(*, listener: Any, end: threading.Event) -> object:
    return threading.Lock()


def names_itself(*, listener: Any, end: threading.Event) -> int:
    return os.getpid()


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv(apart.SWITCH, "off")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import test_served

    yield test_served
    served._end_all()


def call(function: Any, listener: Any = None, end: threading.Event | None = None, **arguments: Any) -> Any:
    return served.call(function, arguments, listener, end, network=False)


@pytest.mark.parametrize("problem", [ValueError, SystemExit])
def test_after_a_listener_that_raises_the_next_call_gets_its_own_answer(importable: Any, problem: type[BaseException]) -> None:
    def raises(_: object) -> None:
        raise problem

    with pytest.raises(problem):
        call(importable.gives, raises, what="of the first job")

    assert call(importable.gives, what="of the second") == "of the second"


def test_ctrl_c_in_a_listener_asks_the_call_to_end(importable: Any) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    assert call(importable.waits, interrupted, seconds=20) is True
    assert call(importable.gives, what=2) == 2


def test_calls_of_two_threads_get_their_own_answers(importable: Any) -> None:
    found: dict[int, object] = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: call(importable.gives, what=n)})) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert found == {0: 0, 1: 1, 2: 2}


def test_a_listener_that_asks_for_a_proof_is_told_so(importable: Any) -> None:
    with pytest.raises(StreamproofError, match="by the listener of another one"):
        call(importable.gives, lambda _: call(importable.gives, what=2), what=1)


def test_an_end_that_is_asked_for_before_the_call_begins_is_heard_and_only_by_that_call(importable: Any) -> None:
    asked = threading.Event()
    asked.set()

    assert call(importable.waits, end=asked, seconds=20) is True
    assert call(importable.waits, end=threading.Event(), seconds=0.5) is False


def test_what_cannot_be_handed_over_is_said_and_the_next_call_goes_on(importable: Any, tmp_path: Path, monkeypatch: Any) -> None:
    first = call(importable.names_itself)
    with pytest.raises(StreamproofError, match="cannot be handed to its process"):
        call(importable.gives, what=threading.Lock())
    with pytest.raises((StreamproofError, RuntimeError, TypeError), match="lock"):
        call(importable.gives_a_lock)

    class OfNotebook: ...

    OfNotebook.__module__, OfNotebook.__qualname__ = "__main__", "OfNotebook"
    monkeypatch.setattr(sys.modules["__main__"], "OfNotebook", OfNotebook, raising=False)
    with pytest.raises(StreamproofError, match="cannot be read in its process: AttributeError"):
        call(importable.gives, what=OfNotebook())

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(StreamproofError, match="working directory of this process is gone"):
        call(importable.gives, what=1)
    monkeypatch.chdir(tmp_path)
    assert call(importable.names_itself) == first


def test_a_process_that_dies_or_does_not_start_is_an_error_that_says_so(importable: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StreamproofError, match="ended with -9, and left no report"):
        call(importable.kills_itself)
    assert call(importable.gives, what=1) == 1
    served._end_all()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(StreamproofError, match="ended with 1, and left no report"):
        call(importable.gives, what=1)


OUTLIVED = """
import sys, threading, time
from streamproof.prove.process import served, served_main
sys.path.insert(0, {folder!r})
import test_served
def leave(_):
    import os
    os._exit(0)
served.call(test_served.stuck, {{}}, leave, network=False)
"""


def stuck(*, listener: Any, end: threading.Event) -> None:
    from streamproof.prove.process import served_main

    served_main._LAST_SECONDS = 1.0
    sys.modules["__main__"]._LAST_SECONDS = 1.0  # type: ignore[attr-defined]
    listener(1)
    threading.Thread(target=time.sleep, args=(60,)).start()  # a thread that Python waits for at its end


def test_it_does_not_outlive_the_process_that_has_started_it(importable: Any) -> None:
    """The shell that reads its output would wait for ever."""
    began = time.monotonic()
    script = OUTLIVED.format(folder=str(Path(__file__).parent))
    subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=50)

    assert time.monotonic() - began < 40
