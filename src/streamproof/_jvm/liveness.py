"""Whether the JVM is still there: its process tells it where this one has started it, else what py4j raises does."""

import re
import select
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LAST_SECONDS = 2.0
"""The connections of a JVM that is killed end a moment before its process has."""
_NO_ANSWER = re.compile(r"An error occurred while calling [^\n]*(?<!Trace:)|.*Answer from Java side is empty.*", re.DOTALL)
"""What py4j says where no answer came: after an answer that is an error it has the trace, or the exception itself."""
_KILLED = 128
"""Shells add the signal to this; Python gives it as a negative number."""


def is_gone(problem: BaseException | None) -> bool:
    """Whether an error comes of a JVM that is not there any more; connections to others are not asked about.

    A call to a dead JVM raises different errors: py4j has half a dozen, PySpark's sockets have more, and code in between wraps them in others. So the
    error alone does not decide. The process is asked whether it is alive.
    """
    raised = list(_chain(problem))
    if any(map(_says_so, raised)):
        return True
    return has_ended(_LAST_SECONDS if any(map(_may_come_of_it, raised)) else 0.0)


def has_ended(wait_seconds: float = 0.0) -> bool:
    """Whether this process has started a JVM, and that has ended, or does so within these seconds."""
    process = _process()
    if process is None:
        return False
    if process.poll() is not None or _has_let_go(process):
        return True
    try:
        process.wait(wait_seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def end_jvm() -> None:
    """Ends the JVM that this process has started, at once: nobody waits for what it was doing."""
    process = _process()
    if process is not None and process.poll() is None:
        process.kill()


def was_killed_at_start(problem: BaseException) -> bool:
    """Of what PySpark raises where the JVM ended before it could be spoken to: whether a signal has ended it, and not an option that it refused."""
    for frame, _ in traceback.walk_tb(problem.__traceback__):
        process = frame.f_locals.get("proc") if frame.f_code.co_name == "launch_gateway" else None
        code = getattr(process, "returncode", None)  # PySpark keeps the process where it waits for it, and nowhere else
        if code is not None:
            return bool(code < 0 or code > _KILLED)
    return False


def _process() -> "subprocess.Popen[bytes] | None":
    pyspark: Any = sys.modules.get("pyspark")
    gateway = getattr(getattr(pyspark, "SparkContext", None), "_gateway", None)
    process = getattr(gateway, "proc", None)  # none where spark-submit has started both
    return process if isinstance(process, subprocess.Popen) else None


def _has_let_go(process: "subprocess.Popen[bytes]") -> bool:
    """Whether nobody reads any more what is written to its standard input: with its connections a process that dies closes that too."""
    if process.stdin is None or process.stdin.closed:
        return False
    asked = select.poll()
    asked.register(process.stdin.fileno(), select.POLLERR)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _chain(problem: BaseException | None) -> Iterator[BaseException]:
    """The error, and those that it comes from."""
    while problem is not None:
        yield problem
        problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)


def _says_so(problem: BaseException) -> bool:
    """Of an error by itself whether only a JVM that is gone leads to it."""
    if "py4j" not in sys.modules:
        return False
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

    if isinstance(problem, Py4JNetworkError):
        return True
    if isinstance(problem, Py4JError) and not isinstance(problem, Py4JJavaError):
        return _NO_ANSWER.fullmatch(str(problem).strip()) is not None
    return isinstance(problem, ConnectionError) and "py4j" in _raised_in(problem)


def _may_come_of_it(problem: BaseException) -> bool:
    """Whether a JVM that is just ending may have led to it: a class that is not found, a result that breaks off."""
    if "py4j" not in sys.modules:
        return False
    from py4j.protocol import Py4JError, Py4JJavaError

    if isinstance(problem, Py4JError):
        return not isinstance(problem, Py4JJavaError)
    return isinstance(problem, OSError | EOFError | TypeError) and bool({"py4j", "pyspark"} & set(_raised_in(problem)))


def _raised_in(problem: BaseException) -> tuple[str, ...]:
    """The parts of the path of the file that raised it."""
    places = traceback.extract_tb(problem.__traceback__)
    return Path(places[-1].filename).parts if places else ()
