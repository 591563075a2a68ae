"""The end of the queries of a run that nothing has ended by itself: somebody asked for it, or one of them has died.

Each is ended after the batch that is under way, in the order of the job. A batch that takes too long is interrupted, and done again by the next start.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

from streamproof import _jvm
from streamproof.core.clock import monotonic_seconds
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import JvmGone, StreamproofError
from streamproof.runtime.failing import in_query, said_first
from streamproof.runtime.query import RunningQuery
from streamproof.runtime.watching.death_events import QueryDied, QueryStopped
from streamproof.runtime.watching.events import Emitter, QueryFinishing
from streamproof.runtime.watching.failure import Stopped

PATIENCE_SECONDS = 10.0
"""How long a run that is asked to end waits for the batch that is under way: whoever sends SIGTERM kills it some 30 seconds later."""
PATIENCE_BESIDE_A_DEAD_QUERY_SECONDS = 60.0
"""How long the living queries of a job may take for their batch once one has died: nobody kills the run, and the job stands still meanwhile."""
_LOOK_EVERY_SECONDS = 1.0


def end_all(queries: Sequence[RunningQuery], emitter: Emitter) -> None:
    """Ends all queries within the patience, since somebody asked for it, and notes what is left to do."""
    deadline = monotonic_seconds() + PATIENCE_SECONDS
    for running in queries:
        running.begin_no_more()
    for running in queries:
        with in_query(running.name, running.protocol):
            _end_one(running, deadline, emitter)


def _end_one(running: RunningQuery, deadline: float, emitter: Emitter) -> None:
    emitter.emit(QueryFinishing(running.name, asked_to_end=True))
    protocol = running.protocol
    if not running.end(deadline - monotonic_seconds()):
        said = f"A batch of {running.name} was under way: {protocol.said_under_way}"
        protocol.events.note(Note(NoteCode.UNDER_WAY, said))
    protocol.look_for_commit()
    waits = [f"{waiting.says} The next start publishes them first." for waiting in protocol.publisher.behind]
    protocol.events.note(*(Note(NoteCode.STILL_WAITS, said) for said in waits))


def end_beside(problem: StreamproofError, queries: Sequence[RunningQuery], emitter: Emitter, hurry: Callable[[], bool]) -> None:
    """Ends the queries that still run since one has died, says of each where, and keeps that in the error of the dead one.

    Without a JVM nothing runs any more, so there is nothing to wait for.

    Parameters
    ----------
    problem
        What the dead query has died of. Where it names no query, no query has died of it, and nothing is said.
    hurry
        Whether somebody asks the run to end by now: then the patience is that of a run that is asked to end.
    """
    dead = problem.at.get("query", "")
    if not dead or isinstance(problem, JvmGone) or _jvm.is_gone(problem):
        return
    emitter.emit(QueryDied(dead, problem.at.get("batch"), type(problem).__name__, said_first(problem), problem.code))
    living = [running for running in queries if running.name != dead]
    for running in living:
        running.begin_no_more()
    patience = _Patience(hurry)
    ended = []
    for running in living:
        emitter.emit(QueryFinishing(running.name, asked_to_end=True))
        stopped = _stopped(running, patience)
        ended.append(stopped)
        emitter.emit(QueryStopped.of(stopped, because=dead))
    problem.is_at(ended=tuple(ended))


class _Patience:
    """How long is waited for all living queries together."""

    def __init__(self, hurry: Callable[[], bool]) -> None:
        self._hurry, self._deadline, self._hurried = hurry, monotonic_seconds() + PATIENCE_BESIDE_A_DEAD_QUERY_SECONDS, False

    @property
    def left(self) -> float:
        if not self._hurried and self._hurry():
            self._hurried = True
            self._deadline = min(self._deadline, monotonic_seconds() + PATIENCE_SECONDS)
        return self._deadline - monotonic_seconds()


def _stopped(running: RunningQuery, patience: _Patience) -> Stopped:
    """Ends a query; whatever goes wrong in that hides no error of the dead one."""
    between, code = False, ""
    try:
        while not (between := running.is_between_batches(min(_LOOK_EVERY_SECONDS, patience.left))) and patience.left > 0:
            pass
        between = running.end(0) or between
    except StreamproofError as problem:  # it dies too, of what the other has died of as a rule
        code = problem.code
    except Exception as problem:  # noqa: BLE001 -- the JVM can go while a query is ended, which has no type of its own
        code = JvmGone.code if _jvm.is_of_spark(problem) else StreamproofError.code
    running.stop()
    after, in_batch = None, None
    with suppress(Exception):
        running.protocol.look_for_commit()
        logs = running.protocol.query.journal.logs
        after = max(logs.batches("commits"), default=None)
        planned = max(logs.batches("offsets"), default=None)
        in_batch = planned if not between and planned is not None and planned > (-1 if after is None else after) else None
    return Stopped(running.name, after, in_batch, running.protocol.said_under_way if in_batch is not None else "", code)
