"""Log lines as JSON, one object a line, whoever says them: a run, Python's loggers, Spark (docs/reference/logs.md)."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from streamproof.core.clock import now_utc

KEYS = ("time", "level", "logger", "message", "job", "query", "batch", "step", "event", "code", "failure")
"""Each line has all of them, in this order; null is what is not known. What the JVM says has the first four (`log4j2-record.json`)."""
OF_THE_JVM = KEYS[:4]
SUFFIX = ".jsonl"
"""A log whose name ends so is written as JSON lines."""


def log_line(level: str, logger: str, message: str, about: Mapping[str, Any], at: datetime | None = None) -> str:
    """One line, without its end.

    Parameters
    ----------
    about
        The other keys, as far as they are known.
    at
        When it was said; None is now.

    Raises
    ------
    ValueError
        If `about` has a key that a line does not have.
    """
    if not about.keys() <= set(KEYS[4:]):
        raise ValueError(f"a log line has no {sorted(about.keys() - set(KEYS))}")
    said = {"time": rfc3339(at or now_utc()), "level": level, "logger": logger, "message": message}
    return json.dumps({key: said.get(key, about.get(key)) for key in KEYS}, ensure_ascii=False)


def rfc3339(moment: datetime) -> str:
    """In UTC, with milliseconds, such as "2026-01-05T10:05:00.120Z"."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonLines(logging.Formatter):
    """Records of Python's loggers as log lines; a trace stands in the message, below what was said."""

    def __init__(self, job: str | None = None) -> None:
        super().__init__("%(message)s")
        self._job = job

    def format(self, record: logging.LogRecord) -> str:
        return log_line(
            record.levelname, record.name, self.said(record), {"job": self._job}, datetime.fromtimestamp(record.created, UTC)
        )

    def said(self, record: logging.LogRecord) -> str:
        """The message and the trace."""
        return super().format(record)
