"""Turns what Spark's listener says of the queries of a plain PySpark job into events of ours, as far as Spark tells. It needs no Spark itself."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from streamproof.connectors.lag import Lag
from streamproof.core.clock import monotonic_seconds
from streamproof.core.instants import instant_in
from streamproof.core.notes import Note as CodedNote
from streamproof.core.notes import NoteCode
from streamproof.core.phases import Phase
from streamproof.runtime.watching.events import BatchCommitted, Note, RunEvent
from streamproof.runtime.watching.measures import SPARKS, TOTAL, newest_event_in, states_in
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedHeard, WatchedStarted

WORK_AND_WRITE = "work-and-write"
"""What Spark calls addBatch: its tasks, and all that a sink or a function of foreachBatch does with their rows. Spark does not tell them apart."""
_BEFORE_THE_FIRST = "1970-01-01T00:00:00.000Z"
"""What Spark says is the watermark before the first event time."""
_KAFKA = "Kafka"
_RAISED = re.compile(r"^(?:Caused by: )?(?:[\w$]+\.)*(?P<name>[A-Z]\w*(?:Exception|Error|Interrupt|Exit))(?=[:\s]|$)", re.MULTILINE)
_UNKNOWN = "unknown"
_ID_CHARACTERS = 8
_MOST_ENDED = 1_000
_Field = TypeVar("_Field")


@dataclass
class _Run:
    """A query that runs: how it is called, when Spark said something of it last, by the steady clock, and what of that could not be read."""

    query: str
    id: str
    heard: float | None = None
    unread: set[str] = field(default_factory=set)


@dataclass
class Watched:
    """What has been heard of the queries of a session.

    Parameters
    ----------
    counts_rows
        Whether Spark counts the rows of a state, asked at each batch: a state store that does not count says 0.
    clock
        Seconds that never go back.
    trigger_seconds
        By the id of a query that runs, the interval of its trigger; None where there is none.
    """

    counts_rows: Callable[[], bool] = lambda: True
    clock: Callable[[], float] = monotonic_seconds
    trigger_seconds: Callable[[str], float | None] = lambda _: None
    _runs: dict[str, _Run] = field(default_factory=dict)
    _said: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_ENDED))
    """Of which queries without a name it was said; a query that is started anew without a checkpoint has another id each time."""
    _ended: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_ENDED))
    """Whoever asks Spark what runs may get an answer that is older than what it has said since."""

    @property
    def runs(self) -> frozenset[str]:
        """Spark's ids of those that run, as far as it has told."""
        return frozenset(self._runs)

    def started(self, identity: str, run: str, name: str | None) -> Iterator[RunEvent]:
        """A query runs; one that is known already is not said again."""
        if run in self._runs or run in self._ended:
            return
        query = self._called(identity, name)
        self._runs[run] = _Run(query, identity)
        yield WatchedStarted(query, run, identity, self.trigger_seconds(identity))
        if not name and identity not in self._said:
            self._said.append(identity)
            said = f'A query has no name, and is shown as {query}, by its id. Name it: .writeStream.queryName("clicks").'
            yield Note(query, str(CodedNote(NoteCode.QUERY_UNNAMED, said)), str(NoteCode.QUERY_UNNAMED))

    def progressed(self, progress: Mapping[str, Any]) -> Iterator[RunEvent]:
        """A batch is over, by its progress as Spark writes it."""
        yield from self.started(progress["id"], progress["runId"], progress.get("name"))
        run = self._runs.get(progress["runId"])
        if run is None:  # it has ended
            return
        fields = _Fields()
        watermark = fields.read("eventTime", lambda: _watermark(progress), None)
        yield WatchedHeard(run.query, progress.get("batchId"), self._since_before(run), watermark)
        yield _committed(run.query, progress, watermark, fields, self.counts_rows)
        news = [name for name in dict.fromkeys(fields.unread) if name not in run.unread]
        if news:
            run.unread.update(news)
            said = f"Something that Spark said of {run.query} could not be read: {', '.join(news)}. The query goes on, and so does the watch."
            yield Note(run.query, said, str(NoteCode.PROGRESS_NOT_READ))

    def idle(self, identity: str, run: str) -> Iterator[RunEvent]:
        """Spark has looked for input, and found none."""
        yield from self.started(identity, run, None) if run not in self._runs else ()
        yield WatchedHeard(self._runs[run].query, since_before=self._since_before(self._runs[run]))

    def ended(self, identity: str, run: str, exception: str | None, error_class: str | None) -> Iterator[RunEvent]:
        """A query has ended; with an exception it has died."""
        if run in self._ended:
            return
        yield from self.started(identity, run, None) if run not in self._runs else ()
        gone = self._runs.pop(run)
        self._ended.append(run)
        yield WatchedEnded(gone.query, run, None if exception is None else _error(exception, error_class))

    def _called(self, identity: str, name: str | None) -> str:
        """Its name; two that run at a time and have one name are told apart by their ids."""
        short = identity[:_ID_CHARACTERS]
        wanted = name or short
        taken = {run.query for run in self._runs.values() if run.id != identity}
        return f"{wanted} ({short})" if wanted in taken else wanted

    def _since_before(self, run: _Run) -> float | None:
        before, run.heard = run.heard, self.clock()
        return None if before is None else round(run.heard - before, 3)


class _Fields:
    """Reads each field of a progress on its own: one that is not as Spark has always said it takes no other along.

    `unread` names those that could not be read.
    """

    def __init__(self) -> None:
        self.unread: list[str] = []

    def read(self, name: str, reading: Callable[[], _Field], otherwise: _Field) -> _Field:
        try:
            return reading()
        except Exception:  # noqa: BLE001 -- whatever Spark says, the other fields are read
            self.unread.append(name)
            return otherwise


def _committed(
    query: str, progress: Mapping[str, Any], watermark: datetime | None, fields: _Fields, counts_rows: Callable[[], bool]
) -> BatchCommitted:
    spent, read = progress.get("durationMs") or {}, progress.get("numInputRows")
    input_rate = progress.get("inputRowsPerSecond")
    phases: Mapping[str, int] = fields.read("durationMs", lambda: phases_in(spent), {})
    return BatchCommitted(
        query,
        progress["batchId"],
        counts={} if read is None else {"input": read},
        rows={},
        watermark=watermark,
        phases_ms=phases,
        total_ms=fields.read("durationMs", lambda: spent.get(TOTAL), None),
        # Of the first batch of a run Spark does not know since when its records have come in, and says 0.
        input_per_second=None if not input_rate and read else input_rate,
        processed_per_second=progress.get("processedRowsPerSecond"),
        lag=fields.read("sources", lambda: tuple(lag_in(progress)), ()),
        state=fields.read("stateOperators", lambda: tuple(states_in(progress, counts_rows=counts_rows(), counts_dropped=True)), ()),
        newest_event=fields.read("eventTime", lambda: newest_event_in(progress), None),
    )


def phases_in(spent: Mapping[str, int]) -> dict[str, int]:
    """By phase how long it took: those that Spark tells apart as we do have our names, the others one of their own."""
    names = {str(Phase.PLAN): SPARKS[Phase.PLAN], WORK_AND_WRITE: ("addBatch",), str(Phase.COMMIT): SPARKS[Phase.COMMIT]}
    found = {phase: [spent[part] for part in parts if part in spent] for phase, parts in names.items()}
    return {phase: sum(told) for phase, told in found.items() if told}


def lag_in(progress: Mapping[str, Any]) -> Iterator[Lag]:
    """How much of each partition of Kafka's topics a batch has left to read; sources are told apart by their place."""
    for place, source in enumerate(progress.get("sources", ())):
        if not str(source.get("description", "")).startswith(_KAFKA):
            continue
        read_to, latest = _positions(source.get("endOffset")), _positions(source.get("latestOffset"))
        for (topic, partition), position in sorted(read_to.items()):
            end = latest.get((topic, partition))
            if end is not None:
                yield Lag(f"source {place}", topic, partition, position, end, max(0, end - position))


def _positions(offset: Any) -> dict[tuple[str, int], int]:
    """By topic and partition an offset of Kafka; empty where Spark has told none."""
    topics = offset if isinstance(offset, dict) else {}
    return {(topic, int(number)): at for topic, partitions in topics.items() for number, at in partitions.items()}


def _watermark(progress: Mapping[str, Any]) -> datetime | None:
    told = progress.get("eventTime", {}).get("watermark")
    return None if told == _BEFORE_THE_FIRST else instant_in(told)


def _error(exception: str, error_class: str | None) -> str:
    """What a query has died of, without a text that may hold values of rows: the innermost exception, and Spark's error class."""
    names = [found["name"] for found in _RAISED.finditer(exception)]
    return " ".join(dict.fromkeys(name for name in (error_class, names[-1] if names else None) if name)) or _UNKNOWN
