"""What a run says while it runs: typed events for its listeners, in the order in which things happen (docs/reference/events.md)."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from streamproof.core.notes import Note as CodedNote
from streamproof.core.plain import plain_fields
from streamproof.runtime.watching.failure import Failure
from streamproof.runtime.watching.figures import OperatorState, Times
from streamproof.runtime.watching.latency import Latency
from streamproof.runtime.watching.pulse import FeelsPulse, Pulse
from streamproof.runtime.watching.raised import raised_by
from streamproof.runtime.watching.result import QueryAccount, RunResult

if TYPE_CHECKING:
    from streamproof.connectors.lag import Lag
    from streamproof.connectors.source import Limit


@dataclass(frozen=True)
class RunEvent:
    """One thing that a run did. `kind` is its name for programs and never changes."""

    kind: ClassVar[str]

    def as_dict(self) -> dict[str, Any]:
        """The kind and the fields as plain values, ready for JSON; instants are ISO 8601."""
        return {"kind": self.kind, **plain_fields(self)}


@dataclass(frozen=True)
class Fetching(RunEvent):
    """A jar that the job needs is being fetched: so many bytes of how many are there."""

    kind: ClassVar[str] = "fetching"
    file: str
    bytes: int
    of_bytes: int


@dataclass(frozen=True)
class SparkStarting(RunEvent):
    """A Spark session is being started."""

    kind: ClassVar[str] = "spark-starting"
    job: str


@dataclass(frozen=True)
class QueryStarting(RunEvent):
    """The checkpoint and the outputs of a query are looked at, and what a crash has left is put right."""

    kind: ClassVar[str] = "query-starting"
    query: str


@dataclass(frozen=True)
class QueryStarted(RunEvent):
    """A query runs, by the id `run`: where the rows of each output go, the first batch of this run, and the account of those before it.

    `trigger_seconds` is the interval of its trigger; None where the query ends once it has read everything. `resumes` says whether the
    run before has left a batch unfinished, which is done again.
    """

    kind: ClassVar[str] = "query-started"
    query: str
    run: str
    checkpoint: str
    outputs: Mapping[str, str]
    batch: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    trigger_seconds: float | None = None
    resumes: bool = False


@dataclass(frozen=True)
class BatchPlanned(RunEvent):
    """Spark has planned a batch and begins to work on it.

    `watermark` is the one that it was planned with, by which windows end in it, and by which rows are late in the next one; None before the
    first event time. `files` is how many files it reads. `limits` says of each source that has one how much of it the batch takes at most; of a
    batch that was planned before this start an adapted one is not known.
    """

    kind: ClassVar[str] = "batch-planned"
    query: str
    batch: int
    watermark: datetime | None
    files: int
    limits: Sequence["Limit"] = ()


@dataclass(frozen=True)
class TableRead(RunEvent):
    """A table that rows are looked up in was read, and holds something else than before; `batch` is the first one that uses this version.

    `rows` is how many there are.
    """

    kind: ClassVar[str] = "table-read"
    query: str
    table: str
    version: str
    rows: int
    batch: int


@dataclass(frozen=True)
class TableStays(RunEvent):
    """A table that was due to be read again could not be, or rows cannot be looked up in it: the former version stays, and `why`."""

    kind: ClassVar[str] = "table-stays"
    query: str
    table: str
    version: str
    why: str
    batch: int


@dataclass(frozen=True)
class RuleRejected(RunEvent):
    """A rule came whose condition is none, or that has no name, and `why`; `stays` says whether the former condition of that name goes on."""

    kind: ClassVar[str] = "rule-rejected"
    query: str
    table: str
    rule: str
    why: str
    stays: bool
    batch: int


@dataclass(frozen=True)
class BatchStaged(RunEvent):
    """The rows of a batch are computed and staged, and its manifest stands; no reader sees them yet.

    `counts` has the account of this batch: input, expanded, emitted, late, rejected, duplicate, filtered and so on. `rows` is by output. `replayed` says
    that the batch ran before, and that the manifest of that attempt stands. `seconds` is the time since the batch was planned.
    """

    kind: ClassVar[str] = "batch-staged"
    query: str
    batch: int
    counts: Mapping[str, int]
    rows: Mapping[str, int]
    replayed: bool
    seconds: float


@dataclass(frozen=True)
class BatchPublished(RunEvent):
    """Readers see the rows of a batch in one output. `waiting` is how many batches still wait for that output."""

    kind: ClassVar[str] = "batch-published"
    query: str
    batch: int
    output: str
    rows: int
    seconds: float
    waiting: int = 0


@dataclass(frozen=True)
class PublicationWaiting(RunEvent):
    """The store of an output does not answer. So many batches wait for it; it is asked again in `seconds`.

    `batches` is 0 where it came back and nothing waits any more.
    """

    kind: ClassVar[str] = "publication-waiting"
    query: str
    output: str
    batches: int
    seconds: float
    why: str

    @property
    def says(self) -> str:
        """What waits, and why, as a sentence."""
        batches = "1 batch waits" if self.batches == 1 else f"{self.batches:,} batches wait"
        return f"{batches} for {self.output}: {self.why.rstrip('.')}."


@dataclass(frozen=True)
class WatermarkLeapt(RunEvent):
    """The watermark went further ahead in one batch than ever in this run, by more than a day or past the clock."""

    kind: ClassVar[str] = "watermark-leapt"
    query: str
    batch: int
    before: datetime | None
    after: datetime


@dataclass(frozen=True)
class HotKey(RunEvent):
    """A key has so many of the rows that come to an operator that one partition has more to do than the others.

    It is said by its hash: `xxhash64` of `columns` is `key`. `share` is its part of the `rows` of the batch, at least. `partitions` says how
    long the tasks of the slowest stage took that read what others had sent, None where Spark has not told it.
    """

    kind: ClassVar[str] = "hot-key"
    query: str
    batch: int
    operator: str
    columns: Sequence[str]
    key: str
    share: float
    rows: int
    partitions: Times | None = None


@dataclass(frozen=True)
class BatchCommitted(RunEvent):
    """Spark has committed a batch: it is over. `counts` and `rows` are those that were staged, `watermark` is the one it was planned with.

    The other fields say what it took, and what it left (`measures.py`). What Spark has not told of it is None or empty.

    Parameters
    ----------
    phases_ms
        By phase ("plan", "work", "stage", "publish", "commit") how long it took.
    total_ms
        From the moment when Spark looked for input to its commit.
    input_per_second, processed_per_second
        Records that came in per second since the trigger before; records per second of `total_ms`.
    lag
        Of each partition of a topic, how much it had left to read.
    state
        Of each operator with state, what it holds now; first the one that is nearest the output.
    latency, newest_event
        Of each source how old its records were when readers got them, where that is measured; empty of a batch that waits for an output.
        The newest event time of its rows, of the first source that has rows.
    """

    kind: ClassVar[str] = "batch-committed"
    query: str
    batch: int
    counts: Mapping[str, int]
    rows: Mapping[str, int]
    watermark: datetime | None
    phases_ms: Mapping[str, int]
    total_ms: int | None = None
    input_per_second: float | None = None
    processed_per_second: float | None = None
    lag: Sequence["Lag"] = ()
    state: Sequence[OperatorState] = ()
    latency: Sequence[Latency] = ()
    newest_event: datetime | None = None


@dataclass(frozen=True)
class QueryFinishing(RunEvent):
    """A query has read everything, or was asked to end: what still waits is published, or the batch under way is waited for."""

    kind: ClassVar[str] = "query-finishing"
    query: str
    asked_to_end: bool


@dataclass(frozen=True)
class Note(RunEvent):
    """Something worth knowing that is no error; `query` is empty where it is about the whole run; `code` is for programs."""

    kind: ClassVar[str] = "note"
    query: str
    text: str
    code: str


@dataclass(frozen=True)
class QueryEnded(RunEvent):
    """A query has ended.

    `batches`, `without_input`, `input` and `rows` are those of this run; `account` goes back to where the checkpoint began. `closes_after` is
    the latest end of an open window.
    """

    kind: ClassVar[str] = "query-ended"
    query: str
    batches: int
    without_input: int
    input: int
    rows: Mapping[str, int]
    account: QueryAccount
    open_windows: int
    closes_after: datetime | None


@dataclass(frozen=True)
class RunEnded(RunEvent):
    """All queries have ended; `result` is what `run` returns, and what `--json` prints."""

    kind: ClassVar[str] = "run-ended"
    result: RunResult


@dataclass(frozen=True)
class RunFailed(RunEvent):
    """An error has stopped the run, or its account does not add up: the name of the error, what it says first, its code, and what is around it."""

    kind: ClassVar[str] = "run-failed"
    error: str
    message: str
    code: str
    failure: Failure | None = None


Listener = Callable[[RunEvent], None]


class Emitter:
    """Gives the events of a run to its listeners: one event at a time, from whichever thread it comes, to each listener in turn.

    A listener that raises stops neither the run nor the others, and the next event is given to it all the same. `failures` has what the first
    error of each was; the other listeners hear of it at once, as a note.
    """

    def __init__(self, *listeners: Listener) -> None:
        self._listeners, self._lock = listeners, threading.RLock()
        self._failed: dict[int, CodedNote] = {}  # by place of the listener

    @property
    def heard(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def also(self, listener: Listener) -> None:
        """Gives the events from now on to one listener more, after the others."""
        self._listeners = (*self._listeners, listener)

    @property
    def felt(self) -> bool:
        """Whether anybody feels the pulse of the run."""
        return any(isinstance(listener, FeelsPulse) for listener in self._listeners)

    def beat(self, pulse: Pulse) -> None:
        """Gives the pulse to those who feel it. Like an event it waits until all listeners have had the event before it."""
        with self._lock:
            known = len(self._failed)
            for place, listener in enumerate(self._listeners):
                if isinstance(listener, FeelsPulse):
                    self._call(place, partial(listener.beat, pulse), "a beat of its pulse")
            self._tell_of_failures(known)

    @property
    def failures(self) -> list[CodedNote]:
        """What listeners have raised, the first error of each, in the order in which they came."""
        return list(self._failed.values())

    def emit(self, event: RunEvent) -> None:
        """Gives an event to the listeners, and returns when all have had it."""
        with self._lock:
            known = len(self._failed)
            self._give(event)
            self._tell_of_failures(known)

    def _give(self, event: RunEvent, but: int | None = None) -> None:
        for place, listener in enumerate(self._listeners):
            if place != but:
                self._call(place, partial(listener, event), f"the event {event.kind}")

    def _call(self, place: int, given: Callable[[], None], what: str) -> None:
        try:
            given()
        except (Exception, SystemExit) as problem:  # noqa: BLE001 -- whatever a listener raises, the batch goes on
            if place not in self._failed:
                self._failed[place] = raised_by(self._listeners, place, problem, what)

    def _tell_of_failures(self, known: int) -> None:
        while known < len(self._failed):  # who is told of a failure can fail at that
            place, note = list(self._failed.items())[known]
            known += 1
            self._give(Note(query="", text=str(note), code=str(note.code)), but=place)


@dataclass
class QueryEvents:
    """What one query says: its events, and its notes, which are kept for the end of the run too."""

    query: str
    emitter: Emitter = field(default_factory=Emitter)
    notes: list[CodedNote] = field(default_factory=list)

    def emit(self, event: RunEvent) -> None:
        self.emitter.emit(event)

    def note(self, *notes: CodedNote) -> None:
        """Keeps notes, and emits each."""
        for note in notes:
            self.notes.append(note)
            self.emit(Note(self.query, str(note), str(note.code)))
