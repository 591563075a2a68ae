"""Backups of a job's checkpoints while it runs, beside its batches: a thread of their own makes them, and none of them stops the job."""

import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.checkpoint.folder import COMMITS, list_names
from streamproof.core.clock import monotonic_seconds, now_utc
from streamproof.core.notes import Note as CodedNote
from streamproof.core.notes import NoteCode
from streamproof.errors import StreamproofError
from streamproof.runtime.watching.backup_events import BackedUp, BackupFailed
from streamproof.runtime.watching.events import BatchCommitted, BatchStaged, Note, QueryStarted, RunEvent
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.points import Point, keep_plan, points_in

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.config.backup import BackupConfig

_AGAIN_SECONDS = 60.0
"""After a backup that failed, the next try comes at most so much later."""
_PATIENCE_AT_END_SECONDS = 5.0
_END = None
_TIME_PASSES = RunEvent()


@dataclass
class _Query:
    """A query, and when its next backup is due, by the monotonic clock; whether that waits for its first batch."""

    name: str
    checkpoint: Path
    to: Path
    due: float
    waits: bool = False


class Backups:
    """Hears the events of a run. Puts the plan of each batch beside the backups when it is staged, and makes a backup when one is due.

    Parameters
    ----------
    emit
        Gives an event to the listeners of the run.
    clock, now
        Seconds of a clock that never goes back; the present instant.
    """

    def __init__(
        self,
        config: "BackupConfig",
        to: Path,
        emit: Callable[[RunEvent], None],
        clock: Callable[[], float] = monotonic_seconds,
        now: Callable[[], datetime] = now_utc,
    ) -> None:
        self._config, self._to, self._emit, self._clock, self._now = config, to, emit, clock, now
        self._every = config.every.total_seconds()
        self._heard: queue.SimpleQueue[RunEvent | None] = queue.SimpleQueue()
        self._queries: dict[str, _Query] = {}
        self._said: set[str] = set()
        self.notes: list[CodedNote] = []
        """What went wrong, each once, for the result of the run."""
        self._thread = threading.Thread(target=self._work, name="backups", daemon=True)
        self._thread.start()

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, QueryStarted | BatchStaged | BatchCommitted):
            self._heard.put(event)

    def finish(self, *, asked_to_end: bool) -> None:
        """At the end of a run: what is due is backed up, and waited for; a run that is asked to end waits a few seconds at most."""
        self.end()
        self._thread.join(_PATIENCE_AT_END_SECONDS if asked_to_end else None)
        if not asked_to_end:
            for query in self._queries.values():
                self._back_up_if_due(query)

    def end(self) -> None:
        """Makes no further backup; one that is being made may end with the process, and leaves the former ones as they were."""
        self._heard.put(_END)

    def _work(self) -> None:
        while True:
            left = [query.due - self._clock() for query in self._queries.values()]
            try:
                event = self._heard.get(timeout=max(0.0, min(left)) if left else None)
            except queue.Empty:
                event = _TIME_PASSES
            if event is _END:
                return
            if isinstance(event, QueryStarted):
                self._begin(event)
            elif isinstance(event, BatchStaged) and event.query in self._queries:
                self._keep_plan(self._queries[event.query], event.batch)
            elif isinstance(event, BatchCommitted) and event.query in self._queries and self._queries[event.query].waits:
                self._queries[event.query].due, self._queries[event.query].waits = self._clock(), False
            if self._heard.empty():  # plans come first: they are small, and what is published without one cannot be done again
                for query in self._queries.values():
                    self._back_up_if_due(query)

    def _begin(self, event: QueryStarted) -> None:
        if event.query in self._queries:  # started anew, batch by batch, after its checkpoint was restored
            return
        to = self._to / event.query
        newest = _newest(to)
        age = self._every if newest is None else (self._now() - newest.at).total_seconds()
        due = self._clock() + max(0.0, self._every - age)
        self._queries[event.query] = _Query(event.query, Path(event.checkpoint.removeprefix("file:")), to, due)

    def _keep_plan(self, query: _Query, batch: int) -> None:
        try:
            keep_plan(query.checkpoint, query.to, batch)
        except (OSError, StreamproofError) as problem:
            self._fails(query, f"The plan of batch {batch} is not kept: {_said(problem)}")

    def _back_up_if_due(self, query: _Query) -> None:
        if query.due > self._clock():
            return
        if not any(name.isdigit() for name in list_names(query.checkpoint / COMMITS)):
            query.due, query.waits = self._clock() + self._every, True
            return
        began = self._clock()
        try:
            done = back_up(query.checkpoint, query.to, keep=self._config.keep)
        except Exception as problem:  # noqa: BLE001 -- whatever goes wrong with a backup, the job goes on
            query.due = self._clock() + min(self._every, _AGAIN_SECONDS)
            self._fails(query, _said(problem))
            return
        query.due = self._clock() + self._every
        seconds = self._clock() - began
        written = (done.copied_files, done.copied_bytes)
        self._emit(BackedUp(query.name, done.batch, str(done.point.path), *written, seconds, self._every))
        if done.behind:
            said = (
                f"The backup of {query.name} is of batch {done.batch}, and the checkpoint is at batch {done.newest}: {done.behind[0]} "
                f"streamproof inspect {query.checkpoint} --verify says more."
            )
            self._note(query, said)

    def _fails(self, query: _Query, why: str) -> None:
        newest = _newest(query.to)
        self._emit(BackupFailed(query.name, why, None if newest is None else newest.at, self._every))
        since = "there is none yet" if newest is None else f"the newest is of {newest.at:%Y-%m-%d %H:%M:%S} UTC"
        self._note(
            query,
            f"The checkpoint of {query.name} could not be backed up, and {since}; the job goes on, and it is tried again. {why}",
        )

    def _note(self, query: _Query, said: str) -> None:
        if said in self._said:
            return
        self._said.add(said)
        self.notes.append(CodedNote(NoteCode.BACKUP_FAILED, said))
        self._emit(Note(query.name, said, str(NoteCode.BACKUP_FAILED)))


def backups_of(config: "JobConfig", emit: Callable[[RunEvent], None]) -> Backups | None:
    """The backups of a job; None where it has no [backup]."""
    if config.backup is None:
        return None
    to = Path(os.path.normpath(config.resolve(config.backup.to).removeprefix("file:")))
    return Backups(config.backup, to, emit)


def _newest(to: Path) -> Point | None:
    """The newest backup in a folder; None without one, or where the folder cannot be read."""
    with suppress(StreamproofError, OSError):
        return next(reversed(points_in(to)), None)
    return None


def _said(problem: BaseException) -> str:
    if isinstance(problem, StreamproofError):
        return " ".join(part for part in (problem.message, problem.remedy) if part)
    if isinstance(problem, OSError):
        return f"{problem.filename or 'The disk'} cannot be written or read: {problem.strerror or problem}."
    return f"{type(problem).__name__}: {problem}"
