"""Whether a run is alive and ready: for the probes of Kubernetes, for systemd, for whoever asks.

Everything goes by a clock that never jumps. A run hangs where something is under way and nothing of it comes to an end: no event, and no task. A source
that delivers nothing is no hang.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from streamproof.core.clock import monotonic_seconds
from streamproof.core.durations import format_duration
from streamproof.core.phases import Phase
from streamproof.observe.metrics.queries import DIED, UP
from streamproof.observe.values import Values
from streamproof.runtime.watching import events
from streamproof.runtime.watching.death_events import QueryDied, QueryStopped
from streamproof.runtime.watching.events import RunEvent
from streamproof.runtime.watching.pulse import FeelsPulse, Pulse, QueryPulse

LEAST_SECONDS = 120.0
"""Nothing hangs before that."""
AT_MOST_SECONDS = 1_800.0
"""The bound where nothing is known yet: of a first batch, of a start, of a look for input."""
TIMES_AS_LONG = 10
_BATCHES = 20
_NEXT_OF_A_HANG = (
    "End the process and start it again: nothing is lost, since what is not committed is done again. Spark's own page shows the stage that is under way. "
    "If batches may take longer, give a longer --hang-after."
)


@dataclass(frozen=True)
class Answer:
    """What is answered to a probe.

    Parameters
    ----------
    good
        200, or else 503.
    status
        One word.
    reason, next
        Why, and what to do; nothing where all is well.
    queries
        What each query does.
    """

    good: bool
    status: str
    reason: str = ""
    next: str = ""
    queries: Sequence[dict[str, Any]] = ()

    @property
    def code(self) -> int:
        return 200 if self.good else 503

    def as_dict(self) -> dict[str, Any]:
        return {"status": self.status, "reason": self.reason, "queries": list(self.queries), "next": self.next}


class Checked(Protocol):
    """What the endpoint asks."""

    def health(self) -> Answer:
        """Whether it makes progress."""

    def ready(self) -> Answer:
        """Whether every query runs."""


@dataclass
class _Query:
    """How far a query is, and when something of it came to an end last; times are of the steady clock."""

    moved: float
    doing: str = "starting"
    batch: int | None = None
    """The batch under way."""
    begun: float = 0.0
    phase: str = ""
    took: deque[float] = field(default_factory=lambda: deque(maxlen=_BATCHES))
    """How long the last batches took, in seconds."""
    planned: bool = False
    looking: float | None = None
    """Since when it has looked for input; None where it waits, or a batch is under way."""
    tasks: tuple[int, ...] | None = None
    look: int | None = None
    """Which look for input it was, when the pulse was taken last."""


class Health(FeelsPulse):
    """A listener of a run that says whether it is alive and ready. Events and beats come from the threads of the run, and whoever asks from others.

    Parameters
    ----------
    hang_after
        For how long nothing of a batch may come to an end. Without it ten times as long as the last batches took, but not less than two minutes
        or the trigger, and not more than half an hour unless the trigger is longer.
    trigger
        The interval of the job's trigger; None where it ends when everything is read.
    clock
        Seconds that never go back.
    """

    def __init__(
        self,
        *,
        hang_after: timedelta | None = None,
        trigger: timedelta | None = None,
        clock: Callable[[], float] = monotonic_seconds,
    ) -> None:
        self._own = None if hang_after is None else hang_after.total_seconds()
        self._trigger = 0.0 if trigger is None else trigger.total_seconds()
        self._clock, self._lock = clock, threading.Lock()
        self._queries: dict[str, _Query] = {}
        self._stage = "starting"
        """Of the run: starting, running, ending."""
        self._heard = clock()
        """When the run was heard of last, by whatever it has said."""
        self._beat = 0.0
        """When its own thread was heard of last, while the queries run."""

    def __call__(self, event: RunEvent) -> None:
        now = self._clock()
        with self._lock:
            self._heard = now
            if isinstance(event, events.QueryFinishing | QueryDied | events.RunEnded | events.RunFailed):
                self._stage = "ending"
            name = getattr(event, "query", "")
            if isinstance(event, events.QueryStarting | events.QueryStarted):
                self._queries[name] = _Query(now, "starting" if isinstance(event, events.QueryStarting) else "running", looking=now)
            query = self._queries.get(name)
            if query is not None:
                _hear(query, event, now)

    def beat(self, pulse: Pulse) -> None:
        now = self._clock()
        with self._lock:
            self._heard = self._beat = now
            self._stage = "running" if self._stage == "starting" else self._stage
            for each in pulse.queries:
                query = self._queries.setdefault(each.query, _Query(now, "running", looking=now))
                _feel(query, each, now)

    def health(self) -> Answer:
        """Not good where the run hangs, with what hangs and for how long."""
        now = self._clock()
        with self._lock:
            shown = [self._shown(name, query, now) for name, query in self._queries.items()]
            hangs = next(self._hanging(now), None)
        if hangs is None:
            return Answer(True, "alive", queries=shown)
        return Answer(False, "hangs", hangs, _NEXT_OF_A_HANG, shown)

    def ready(self) -> Answer:
        """Good once every query has started and looked for input, until the run is to end."""
        now = self._clock()
        with self._lock:
            shown = [self._shown(name, query, now) for name, query in self._queries.items()]
            waits_for = [name for name, query in self._queries.items() if not query.planned]
            stage = self._stage
        if stage == "ending":
            return Answer(False, "ending", "The queries are being ended, or have ended.", "Wait for the next start.", shown)
        if stage == "starting":
            started = ", ".join(name for name, query in self._queries.items() if query.doing != "starting")
            done = f" Started so far: {started}." if started else ""
            return Answer(False, "starting", f"Not all queries have started yet.{done}", "Wait.", shown)
        if waits_for:
            return Answer(False, "starting", f"{', '.join(waits_for)} has not looked for input yet.", "Wait.", shown)
        return Answer(True, "ready", queries=shown)

    @property
    def stage(self) -> str:
        """Of the run: "starting", "running" or "ending"."""
        with self._lock:
            return self._stage

    def _hanging(self, now: float) -> Iterator[str]:
        """What hangs, in a sentence each."""
        silent, most = now - self._heard, max(AT_MOST_SECONDS, self._own or 0.0)
        if self._stage != "running" and silent > most:
            yield f"The run is {self._stage}, and has said nothing for {_long(silent)}."
        bounds = [self._bound(query) for query in self._queries.values()]
        silent = now - self._beat
        if self._stage == "running" and silent > max(bounds, default=most):
            yield f"The driver's own thread has not come around for {_long(silent)}: it is stuck in a call, or a listener does not return."
        for name, query in self._queries.items():
            bound, stands = self._bound(query), now - query.moved
            if query.doing == "running" and query.batch is not None and stands > bound:
                yield (
                    f"Batch {query.batch} of {name} is under way for {_long(now - query.begun)}, in the phase {query.phase}, and for {_long(stands)} "
                    f"nothing of it has come to an end: no task, no event. The bound is {_long(bound)}."
                )
            looks = self._beat - query.looking if query.looking is not None else 0.0  # what it does since then nobody has seen
            bound = self._own or max(AT_MOST_SECONDS, 3 * self._trigger)
            if query.doing == "running" and query.batch is None and looks > bound:
                yield f"{name} looks for input for {_long(looks)}: a source does not answer. The bound is {_long(bound)}."

    def _bound(self, query: _Query) -> float:
        """For how long nothing of a batch of this query may come to an end."""
        if self._own is not None:
            return self._own
        usual = TIMES_AS_LONG * sum(query.took) / len(query.took) if query.took else AT_MOST_SECONDS
        return max(min(max(usual, LEAST_SECONDS), AT_MOST_SECONDS), self._trigger)

    def _shown(self, name: str, query: _Query, now: float) -> dict[str, Any]:
        under_way = query.batch is not None
        return {
            "query": name,
            "doing": query.doing,
            "batch": query.batch,
            "phase": query.phase if under_way else "",
            "seconds_without_progress": round(now - query.moved, 1) if under_way else 0.0,
            "hangs_after_seconds": round(self._bound(query), 1),
        }


class OfPlainJob:
    """Whether a plain PySpark job is alive and ready, as far as Spark tells: it does not say when a batch begins, so a hang is not seen."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def health(self) -> Answer:
        """Good as long as the process answers."""
        return Answer(True, "alive", queries=self._shown())

    def ready(self) -> Answer:
        """Good where a query runs and none has died. One that was stopped, or has read everything, is missed by nobody while another runs."""
        shown = self._shown()
        by = {word: [each["query"] for each in shown if each["doing"] == word] for word in ("running", "died", "ended")}
        if not shown:
            return Answer(False, "starting", "No query has started yet.", "Wait.")
        if by["died"]:
            return Answer(False, "died", f"{', '.join(by['died'])} has died.", "The driver's log says why.", shown)
        if not by["running"]:
            return Answer(False, "ended", f"{', '.join(by['ended'])} has ended.", "The driver's log says why.", shown)
        return Answer(True, "ready", queries=shown)

    def _shown(self) -> list[dict[str, Any]]:
        up, died = self._values.now(UP), self._values.now(DIED)
        return [
            {"query": labels[0], "doing": "running" if value == 1 else "died" if died.get(labels) == 1 else "ended"}
            for labels, value in up.items()
        ]


def _hear(query: _Query, event: RunEvent, now: float) -> None:
    """Whatever is said of a query is progress."""
    query.moved, query.tasks = now, None
    match event:
        case events.BatchPlanned():
            query.batch, query.begun, query.phase, query.planned, query.looking = event.batch, now, str(Phase.WORK), True, None
        case events.BatchStaged():
            query.phase = str(Phase.PUBLISH)
        case events.BatchPublished():
            query.phase = str(Phase.COMMIT)
        case events.BatchCommitted():
            query.took.append(event.total_ms / 1_000 if event.total_ms is not None else now - (query.begun or now))
            query.planned = True
            if query.batch is None or query.batch <= event.batch:
                query.batch, query.looking = None, now
        case events.QueryEnded() | QueryStopped() | QueryDied():
            query.doing, query.batch, query.looking = "died" if isinstance(event, QueryDied) else "ended", None, None


def _feel(query: _Query, pulse: QueryPulse, now: float) -> None:
    if pulse.ended:
        query.planned, query.looking = True, None
        return
    again = None not in (query.look, pulse.look) and query.look != pulse.look  # so the look before is over
    query.look = pulse.look
    query.planned = query.planned or pulse.waits or pulse.works or again
    if pulse.waits:
        query.looking = None
    elif query.batch is None and (query.looking is None or again):
        query.looking = now
    if pulse.tasks is not None:
        query.moved = now if query.tasks is not None and query.tasks != pulse.tasks else query.moved
        query.tasks = pulse.tasks


def _long(seconds: float) -> str:
    return format_duration(timedelta(seconds=round(seconds)))
