"""`run --log-format json`: what a run says on standard error as JSON lines, for whatever collects logs."""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from streamproof.core.log_lines import JsonLines, log_line
from streamproof.core.masking import masked
from streamproof.errors import StreamproofError

if TYPE_CHECKING:
    from streamproof.runtime.watching.events import RunEvent

LOGGER = "streamproof"
"""The logger of what a run says itself."""


class LogFormat(StrEnum):
    """How a run speaks on standard error."""

    TEXT = "text"
    JSON = "json"


class _Format:
    """How this command speaks, and of which job."""

    json = False
    job: str | None = None


def choose(wanted: LogFormat) -> LogFormat:
    """Lets this command speak in a format."""
    _Format.json, _Format.job = wanted is LogFormat.JSON, None
    return wanted


def is_json() -> bool:
    """Whether this command speaks in JSON lines."""
    return _Format.json


def of_job(name: str) -> None:
    """Lets lines name the job from now on."""
    _Format.job = name


def say(level: str, message: str, about: Mapping[str, Any], redacted: Callable[[str], str]) -> None:
    """Writes one line; what is `about` it has no secrets."""
    sys.stderr.write(f"{log_line(level, LOGGER, masked(redacted(message)), {'job': _Format.job, **about})}\n")
    sys.stderr.flush()


def about_error(problem: StreamproofError) -> tuple[str, dict[str, Any]]:
    """What an error says, and what a line has beside it: all that is known of where it came up and of what to do."""
    failure = problem.failure
    if failure is None:
        return str(problem), {"code": problem.code}
    from streamproof.core.plain import plain_fields
    from streamproof.runtime.watching.failure import NOT_KNOWN

    step = failure.where.said
    return problem.message, {
        "job": failure.job,
        "query": failure.query or None,
        "batch": failure.batch,
        "step": None if step == NOT_KNOWN else step,
        "code": problem.code,
        "event": "run-failed",
        "failure": plain_fields(failure),
    }


def _numbered(count: int, noun: str, many: str = "") -> str:
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


def _in_batch(batch: int | None) -> str:
    return f" in batch {batch}" if batch is not None else ""


_INFO, _WARNING, _ERROR = "INFO", "WARNING", "ERROR"
_SAID: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "spark-starting": (_INFO, lambda _: "Spark is started."),
    "query-starting": (_INFO, lambda event: f"Checkpoint and outputs of {event.query} are looked at."),
    "query-started": (_INFO, lambda event: f"Query {event.query} runs, from batch {event.batch} on."),
    "batch-committed": (
        _INFO,
        lambda event: f"Batch {event.batch} is committed: {_numbered(event.counts.get('input', 0), 'row')} in.",
    ),
    "table-read": (_INFO, lambda event: f"Table {event.table} was read: {_numbered(event.rows, 'row')}."),
    "table-stays": (_WARNING, lambda event: f"Table {event.table} stays in its former version: {event.why}"),
    "rule-rejected": (_WARNING, lambda event: f"Rule {event.rule} of table {event.table} is rejected: {event.why}"),
    "publication-waiting": (_WARNING, lambda event: event.says),
    "watermark-leapt": (_WARNING, lambda event: f"The watermark leapt from {event.before} to {event.after}."),
    "hot-key": (
        _WARNING,
        lambda event: (
            f"A key of {event.operator} has {event.share:.0%} of {_numbered(event.rows, 'row')}: xxhash64 of "
            f"{', '.join(event.columns)} is {event.key}."
        ),
    ),
    "backed-up": (_INFO, lambda event: f"Batch {event.batch} is backed up in {event.path}."),
    "backup-failed": (_WARNING, lambda event: f"A backup failed: {event.why}"),
    "note": (_INFO, lambda event: event.text),
    "query-died": (_ERROR, lambda event: f"Query {event.query} has died{_in_batch(event.batch)}. The other queries are ended."),
    "query-stopped": (
        _WARNING,
        lambda event: f"Query {event.query} was ended{_in_batch(event.in_batch)}, because {event.because} had died.",
    ),
    "query-finishing": (
        _INFO,
        lambda event: f"Query {event.query} is ending{' as it was asked to' if event.asked_to_end else ''}.",
    ),
    "query-ended": (
        _INFO,
        lambda event: (
            f"Query {event.query} has ended: {_numbered(event.batches, 'batch', 'batches')}, {_numbered(event.input, 'row')} in."
        ),
    ),
    "run-ended": (_INFO, lambda event: f"The run has ended: {_numbered(event.result.rows_in, 'row')} in."),
}
"""By kind of event its level and its sentence."""
UNSAID = frozenset({"fetching", "query-planned", "batch-planned", "batch-staged", "batch-published", "run-failed"})
"""Steps of a batch, for which there is `--events`, and an error, which has a line of its own with its remedy."""


class EventLog:
    """A listener of a run that writes a log line for what is worth one."""

    def __init__(self, redacted: Callable[[str], str]) -> None:
        self._redacted = redacted

    def __call__(self, event: "RunEvent") -> None:
        if event.kind not in _SAID:
            return
        level, sentence = _SAID[event.kind]
        about = {"query": getattr(event, "query", "") or None, "batch": getattr(event, "batch", None)}
        code = getattr(event, "code", None)
        say(level, sentence(event), {**about, "event": event.kind, "code": code}, self._redacted)


@contextmanager
def with_loggers_of_the_job() -> Iterator[None]:
    """Lets what the job's own code logs be lines of the same form meanwhile, where it has set up no logging of its own."""
    root = logging.getLogger()
    if not _Format.json or root.handlers:
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines(_Format.job))
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
