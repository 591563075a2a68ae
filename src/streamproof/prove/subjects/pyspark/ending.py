"""How a job ends its queries: `awaitTermination(1)` and `stop()` say how long a program runs, and a proof runs all that there is."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

JOB_THREAD = "job"
"""The name of the thread in which the job's own code runs."""
_SLICE_SECONDS, _LOOK_SECONDS, _AT_ONCE_SECONDS = 1.0, 0.25, 0.001


def bind_ends() -> None:
    """Lets a query come to its own end, whenever the job stops it: one that is cut off in the middle of a batch is none to compare with.

    A function of `foreachBatch`, or a listener, that stops its own query is let go on: it would wait for itself.
    """
    from pyspark.sql.streaming.query import StreamingQuery, StreamingQueryManager

    query: Any = StreamingQuery
    manager: Any = StreamingQueryManager
    wait, wait_any, stop = query.awaitTermination, manager.awaitAnyTermination, query.stop
    query.awaitTermination = _without_timeout(wait)
    manager.awaitAnyTermination = _while_one_runs(wait_any)
    query.stop = _stopping(stop, wait)


def in_the_job() -> bool:
    """Whether this is the thread of the job's own code, and not one in which Spark calls it."""
    return threading.current_thread().name == JOB_THREAD


def _without_timeout(real: Callable[..., Any]) -> Callable[..., Any]:
    def wait(self: Any, timeout: float | None = None) -> bool | None:
        real(self)
        return None if timeout is None else True

    return wait


def _while_one_runs(real: Callable[..., Any]) -> Callable[..., Any]:
    """Waits past the job's timeout for as long as a query runs. Where none does nothing can end any more, and the timeout counts.

    After `resetTerminated` Spark waits for a query that has not been started. It is waited for here and not in the JVM: a job that
    only waits is done, and what asks the JVM is taken for work.
    """

    def wait(self: Any, timeout: float | None = None) -> bool | None:
        idle = 0.0
        while not real(self, _SLICE_SECONDS if self.active else _AT_ONCE_SECONDS):
            if self.active:
                idle = 0.0
                continue
            if timeout is not None and idle >= timeout:
                return False
            threading.Event().wait(_LOOK_SECONDS)
            idle += _LOOK_SECONDS
        return None if timeout is None else True

    return wait


def _stopping(real: Callable[..., Any], wait: Callable[..., Any]) -> Callable[..., Any]:
    def stop(self: Any) -> None:
        if not in_the_job():
            return
        with contextlib.suppress(Exception):  # what has stopped it is told by the proof, which waits for it too
            wait(self)
        real(self)

    return stop
