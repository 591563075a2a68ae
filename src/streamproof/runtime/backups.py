"""Backups of a job's checkpoints while it runs, beside its batches: a thread of their own makes them, and none of them stops the job."""

import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
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
from streamproof.savepoints.place import Place
from streamproof.savepoints.places import place_at, place_below
from streamproof.savepoints.points import Point

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.config.backup import BackupConfig

_AGAIN_SECONDS = 60.0
"""After a backup that failed, the next try comes at most so much later."""
_PATIENCE_AT_END_SECONDS = 3.0
_END = None
_TIME_PASSES = RunEvent()


@dataclass
class _Query:
    """A query, and when its next backup is due, by the monotonic clock; whether that waits for its first batch."""

    name: str
    checkpoint: Path
    to: Place
    due: float
    waits: bool = False
    newest: Point | None = None
    unkept: set[int] = field(default_factory=set)
    """Batches whose plans could not be put beside the backups yet."""


class Backups:
    """Hears the events of a run. Puts the plan of each batch beside the backups when it is staged, and makes a backup when one is due.

    Parameters
    ----------
    to
        The place; each query has one of its own in it.
    emit
        Gives an event to the listeners of the run.
    clock, now
        Seconds of a clock that never goes back; the present instant.
    """

    def __init__(
        self,
        config: "BackupConfig",
        to: str | Path,
        emit: Callable[[RunEvent], None],
        clock: Callable[[], float] = monotonic_seconds,
        now: Callable[[], datetime] = now_utc,
    ) -> None:
        self._config, self._to, self._emit, self._clock, self._now = config, str(to), emit, clock, now
        self._every = config.every.total_seconds()
        self._heard: queue.SimpleQueue[RunEvent | None] = queue.SimpleQueue()
        self._queries: dict[str, _Query] = {}
        self._said: set[tuple[str, str]] = set()
        self._over = threading.Event()
        self.notes: list[CodedNote] = []
        """What went wrong, each once, for the result of the run."""
        self._thread = threading.Thread(target=self._work, name="backups", daemon=True)
        self._thread.start()

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, QueryStarted | BatchStaged | BatchCommitted):
            self._heard.put(event)

    def finish(self, *, asked_to_end: bool) -> None:
        """At the end of a run: what is due is backed up, and waited for; a run that is asked to end waits a few seconds at most."""
        self._heard.put(_END)
        self._thread.join(_PATIENCE_AT_END_SECONDS if asked_to_end else None)
        if not asked_to_end:
            for query in self._queries.values():
                self._keep_plans(query)
                self._back_up_if_due(query)

    def end(self) -> None:
        """Makes no further backup; one that is being made may end with the process, and leaves the former ones as they were."""
        self._over.set()
        self._heard.put(_END)
        for query in list(self._queries.values()):
            query.to.end()

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
                self._queries[event.query].unkept.add(event.batch)
                self._keep_plans(self._queries[event.query])
            elif isinstance(event, BatchCommitted) and event.query in self._queries and self._queries[event.query].waits:
                self._queries[event.query].due, self._queries[event.query].waits = self._clock(), False
            if self._heard.empty():  # plans come first: they are small, and what is published without one cannot be done again
                for query in self._queries.values():
                    self._back_up_if_due(query)

    def _begin(self, event: QueryStarted) -> None:
        if event.query in self._queries:  # started anew, batch by batch, after its checkpoint was restored
            return
        to = place_at(place_below(self._to, event.query), endpoint=self._config.endpoint, region=self._config.region)
        newest = _newest(to)
        age = self._every if newest is None else (self._now() - newest.at).total_seconds()
        due = self._clock() + max(0.0, self._every - age)
        self._queries[event.query] = _Query(event.query, Path(event.checkpoint.removeprefix("file:")), to, due, newest=newest)

    def _keep_plans(self, query: _Query) -> None:
        """Puts the plans that are not there yet beside the backups, those first that failed before: a gap makes those after it useless."""
        for batch in sorted(query.unkept):
            try:
                query.to.keep_plan(query.checkpoint, batch)
            except (OSError, StreamproofError) as problem:
                self._fails(query, f"The plan of batch {batch} is not kept: {_said(problem)}", _said(problem))
                return
            query.unkept.remove(batch)

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
            self._fails(query, _said(problem), _said(problem))
            return
        query.due = self._clock() + self._every
        query.newest, query.unkept = done.point, set()  # a backup brings the plans since
        seconds = self._clock() - began
        written = (done.copied_files, done.copied_bytes)
        self._emit(BackedUp(query.name, done.batch, done.point.where, *written, seconds, self._every))
        if done.behind:
            said = (
                f"The backup of {query.name} is of batch {done.batch}, and the checkpoint is at batch {done.newest}: {done.behind[0]} "
                f"streamproof inspect {query.checkpoint} --verify says more."
            )
            self._note(query, said, done.behind[0])

    def _fails(self, query: _Query, why: str, cause: str) -> None:
        if self._over.is_set():  # the process ends, and takes the place away from under it
            return
        newest = query.newest = query.newest or _newest(query.to)
        self._emit(BackupFailed(query.name, why, None if newest is None else newest.at, self._every))
        since = "none is known" if newest is None else f"the newest is of {newest.at:%Y-%m-%d %H:%M:%S} UTC"
        said = f"The checkpoint of {query.name} could not be backed up, and {since}; the job goes on, and it is tried again. {why}"
        self._note(query, said, cause)

    def _note(self, query: _Query, said: str, cause: str) -> None:
        """Says it, once for each cause."""
        if (query.name, cause) in self._said:
            return
        self._said.add((query.name, cause))
        self.notes.append(CodedNote(NoteCode.BACKUP_FAILED, said))
        self._emit(Note(query.name, said, str(NoteCode.BACKUP_FAILED)))


def backups_of(config: "JobConfig", emit: Callable[[RunEvent], None]) -> Backups | None:
    """The backups of a job; None where it has no [backup]."""
    if config.backup is None:
        return None
    to = config.resolve(config.backup.to)
    if not config.is_remote(to):
        to = os.path.normpath(to.removeprefix("file:"))
    return Backups(config.backup, to, emit)


def _newest(to: Place) -> Point | None:
    """The newest backup in a place; None without one, or where it cannot be read."""
    with suppress(StreamproofError, OSError):
        return next(reversed(to.points()), None)
    return None


def _said(problem: BaseException) -> str:
    if isinstance(problem, StreamproofError):
        return " ".join(part for part in (problem.message, problem.remedy) if part)
    if isinstance(problem, OSError):
        return f"{problem.filename or 'The disk'} cannot be written or read: {problem.strerror or problem}."
    return f"{type(problem).__name__}: {problem}"
