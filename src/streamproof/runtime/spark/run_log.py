"""The log of a run: what Spark, its JVM and PySpark say goes to a file beside the job, and not to the screen.

The words of Spark's errors, which quote values of rows, are left out of it (`core/trace_texts.py`). What a job prints itself stands in it, so that
only its owner may read it.
"""

import logging
import os
import socketserver
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from streamproof.core.clock import now_utc
from streamproof.core.log_lines import SUFFIX, JsonLines
from streamproof.core.trace_texts import without_values
from streamproof.errors import JvmGone

FOLDER = Path(".streamproof", "logs")
KEPT = 10
_NO_ROWS = ("openlineage", "opentelemetry", "urllib3")
"""What they say of a collector has no row in it, and their words are wanted."""
_LOGGERS = (*_NO_ROWS, "py4j", "pyspark")
"""What of Python writes traces of its own where a conversation breaks off: with the JVM, or with a collector."""


def open_log(root: Path, *, as_json: bool = False) -> Path | None:
    """A new, empty log for a run of the job in this folder; of older ones the newest stay. None where nothing can be written there.

    Parameters
    ----------
    as_json
        Whether it is to have JSON lines, which its name says to whoever writes to it.
    """
    folder = root / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = folder / f"run-{now_utc():%Y%m%dT%H%M%S}-{os.getpid()}{SUFFIX if as_json else '.log'}"
        log.touch(mode=0o600)
    except OSError:
        return None
    for old in sorted((*folder.glob("run-*.log"), *folder.glob(f"run-*{SUFFIX}")))[:-KEPT]:
        with suppress(OSError):  # another run removes it, or reads it
            old.unlink()
    return log


_ROOT = "root"
_SAYING = ("", "py4j.clientserver", "py4j.java_gateway", "DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""The loggers that log errors of Spark; a filter hears what is logged by its own logger alone. py4j logs some by the root logger, too."""


class _Formatter(logging.Formatter):
    """A record and its trace as text, without the words of errors that may hold values of rows."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return _left_out(record, super().format(record))


class _JsonFormatter(JsonLines):
    """The same as a JSON line."""

    def said(self, record: logging.LogRecord) -> str:
        return _left_out(record, super().said(record))


def _left_out(record: logging.LogRecord, text: str) -> str:
    return text if record.name.split(".")[0] in _NO_ROWS else without_values(text)


class _WithoutValues(logging.Filter):
    """Takes the words of errors out of a record before any handler has it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == _ROOT and not _is_py4j(record):
            return True
        said = (
            [record.getMessage(), "".join(traceback.format_exception(*record.exc_info)).rstrip()]
            if record.exc_info
            else [record.getMessage()]
        )
        record.msg, record.args, record.exc_info, record.exc_text = without_values("\n".join(said)), (), None, None
        return True


class _OfPy4j(logging.Filter):
    """Takes from the root logger what py4j gives to that one, since it has a logger and does not always use it."""

    def __init__(self, handler: logging.Handler) -> None:
        super().__init__()
        self._handler = handler

    def filter(self, record: logging.LogRecord) -> bool:
        if not _is_py4j(record):
            return True
        self._handler.handle(record)
        return False


def _is_py4j(record: logging.LogRecord) -> bool:
    return "py4j" in Path(record.pathname).parts


@contextmanager
def values_left_out() -> Iterator[None]:
    """Meanwhile what py4j and PySpark log goes where it goes, without the words of errors: for a run in a program of the user's."""
    left_out, loggers = _WithoutValues(), [logging.getLogger(name) for name in _SAYING]
    for logger in loggers:
        logger.addFilter(left_out)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(left_out)


_left = ExitStack()
"""What takes the log away again, of work whose conversation with the JVM broke off."""


@contextmanager
def python_side(log: Path | None) -> Iterator[None]:
    """Lets PySpark, py4j and what sends to collectors log to the file meanwhile; None leaves them as they are.

    Where the JVM is gone they go on logging there: the threads that were speaking to it may say so later than we have.
    """
    _left.close()
    if log is None:
        yield
        return
    with ExitStack() as log_of_this:
        log_of_this.callback(_logging_to(log))
        try:
            yield
        except (JvmGone, KeyboardInterrupt):
            _left.push(log_of_this.pop_all())
            raise


def _logging_to(log: Path) -> Callable[[], None]:
    """Lets PySpark and py4j log to the file; what is returned takes it back."""
    handler = logging.FileHandler(log, encoding="utf-8")
    handler.setFormatter(_JsonFormatter() if log.suffix == SUFFIX else _Formatter())
    loggers, root, from_root = [logging.getLogger(name) for name in _LOGGERS], logging.getLogger(), _OfPy4j(handler)
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    root.addFilter(from_root)
    tells = socketserver.BaseServer.handle_error

    def told(server: socketserver.BaseServer, request: Any, client: Any) -> None:
        """Logs an error of PySpark's accumulator server, which else prints a trace when its connection ends with the JVM."""
        if type(server).__module__.startswith("pyspark."):
            loggers[-1].error("%s broke off", type(server).__name__, exc_info=True)
        else:
            tells(server, request, client)

    socketserver.BaseServer.handle_error = told  # type: ignore[method-assign, assignment]

    def back() -> None:
        socketserver.BaseServer.handle_error = tells  # type: ignore[method-assign]
        root.removeFilter(from_root)
        for logger, propagated in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagated
        handler.close()

    return back


@contextmanager
def passing_log() -> Iterator[Path]:
    """A log for work that has no job to lie beside: it takes what Spark, its JVM and PySpark say, and is removed after it."""
    descriptor, name = tempfile.mkstemp(prefix="streamproof-", suffix=".log")  # its owner alone may read it
    os.close(descriptor)
    log = Path(name)
    try:
        with python_side(log):
            yield log
    finally:
        log.unlink(missing_ok=True)


def said_at_the_end(log: Path) -> str:
    """The last line of a log that says something, without the mark of an exception's place; empty where there is none."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip() and not line.startswith(("\t", " "))), "")
