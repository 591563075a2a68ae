"""What a run says while it runs: typed events for a listener, in the order in which things happen (docs/reference/events.md)."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from streamproof.core.notes import Note as CodedNote
from streamproof.core.notes import NoteCode
from streamproof.core.plain import plain_fields
from streamproof.runtime.watching.result import QueryAccount, RunResult


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
    """A query runs. `run` is the id of this start, `outputs` says by name where the rows go, `batch` is the first batch of this run."""

    kind: ClassVar[str] = "query-started"
    query: str
    run: str
    checkpoint: str
    outputs: Mapping[str, str]
    batch: int = 0


@dataclass(frozen=True)
class BatchPlanned(RunEvent):
    """Spark has planned a batch and begins to work on it.

    `watermark` is the one that it was planned with, by which windows end in it, and by which rows are late in the next one; None before the
    first event time. `files` is how many files it reads.
    """

    kind: ClassVar[str] = "batch-planned"
    query: str
    batch: int
    watermark: datetime | None
    files: int


@dataclass(frozen=True)
class BatchStaged(RunEvent):
    """The rows of a batch are computed and staged, and its manifest stands; no reader sees them yet.

    `counts` has the account of this batch: input, expanded, emitted, late, rejected, duplicate, filtered. `rows` is by output. `replayed` says
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
class BatchCommitted(RunEvent):
    """Spark has committed a batch: it is over. `counts` and `rows` are those that were staged; `seconds` is by phase, "stage" and "publish"."""

    kind: ClassVar[str] = "batch-committed"
    query: str
    batch: int
    counts: Mapping[str, int]
    rows: Mapping[str, int]
    seconds: Mapping[str, float]


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
    """An error has stopped the run, or its account does not add up: the name of the error, what it says first, and its code."""

    kind: ClassVar[str] = "run-failed"
    error: str
    message: str
    code: str


Listener = Callable[[RunEvent], None]


def nobody(_: RunEvent) -> None:
    """Nobody listens."""


class Emitter:
    """Gives the events of a run to one listener, one at a time, from whichever thread they come.

    A listener that raises stops nothing: `failure` says what the first error was, and the next event is given to it all the same.
    """

    def __init__(self, listener: Listener = nobody) -> None:
        self.failure: CodedNote | None = None
        self._listener, self._lock = listener, threading.RLock()

    def emit(self, event: RunEvent) -> None:
        """Gives an event to the listener, and returns when it has."""
        with self._lock:
            try:
                self._listener(event)
            except (Exception, SystemExit) as problem:  # noqa: BLE001 -- whatever a listener raises, the batch goes on
                said = str(problem).partition("\n")[0]
                told = (
                    f"The listener of this run raised {type(problem).__name__}{f': {said}' if said else ''} at the event {event.kind}. "
                    "The job went on; look into that function."
                )
                self.failure = self.failure or CodedNote(NoteCode.LISTENER_RAISED, told)


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
