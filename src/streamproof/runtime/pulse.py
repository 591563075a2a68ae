"""Takes the pulse of a run: asks Spark what each query does, and whether tasks of its batch come to an end."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from streamproof._jvm import look_of
from streamproof.core.clock import monotonic_seconds
from streamproof.runtime.query import RunningQuery
from streamproof.runtime.watching.events import Emitter
from streamproof.runtime.watching.pulse import Pulse, QueryPulse

_WAITS = ("Waiting for next trigger", "Waiting for data to arrive")
"""What Spark says of a query that has looked for input, and does nothing until it looks again."""
_WORKS = "Processing"
_TASKS_EVERY_SECONDS = 5.0
_NEWEST_JOBS = 4
"""Of a query, whose tasks are counted: a batch runs its jobs one after another, or few at once."""


@dataclass
class PulseTaker:
    """Takes the pulse of the queries of one run, for those who feel it; where nobody does, it asks Spark nothing."""

    queries: Sequence[RunningQuery]
    emitter: Emitter
    _counted: float = field(init=False, default=0.0)

    def take(self) -> None:
        if not self.emitter.felt:
            return
        now = monotonic_seconds()
        count = now - self._counted >= _TASKS_EVERY_SECONDS
        self._counted = now if count else self._counted
        self.emitter.beat(Pulse(tuple(_of(query, count=count) for query in self.queries)))


def _of(query: RunningQuery, *, count: bool) -> QueryPulse:
    """What a query does; without words where Spark does not answer: what stops the run is said elsewhere."""
    with suppress(Exception):
        says = str(query.stream.status["message"])
        if not query.stream.isActive:
            return QueryPulse(query.name, says, ended=True)
        tasks = _tasks(query) if count else None
        waits, works = says.startswith(_WAITS), says.startswith(_WORKS)
        return QueryPulse(query.name, says, waits=waits, works=works, tasks=tasks, look=look_of(query.stream))
    return QueryPulse(query.name)


def _tasks(query: RunningQuery) -> tuple[int, ...]:
    """The newest jobs of a query, and of each stage of theirs how many tasks have come to an end. Spark groups jobs by the run of their query."""
    tracker = query.protocol.query.spark.sparkContext.statusTracker()
    jobs = sorted(tracker.getJobIdsForGroup(str(query.stream.runId)))[-_NEWEST_JOBS:]
    found = list(jobs)
    for job in jobs:
        told = tracker.getJobInfo(job)
        for stage in told.stageIds if told is not None else ():
            info = tracker.getStageInfo(stage)
            found += [stage, info.numCompletedTasks] if info is not None else []
    return tuple(found)
