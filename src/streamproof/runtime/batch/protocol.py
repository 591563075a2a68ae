"""The life of one micro-batch after Spark's work phase: stage, manifest, publish (PROTOCOL R3-R8)."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from streamproof import _jvm
from streamproof.core.clock import monotonic_seconds, now_utc, to_micros
from streamproof.core.instants import instant_at
from streamproof.core.manifest import Manifest
from streamproof.core.phases import Phase
from streamproof.core.sides import LATE, Side
from streamproof.errors import StagedRowsGone
from streamproof.runtime.batch.commits import Commits
from streamproof.runtime.batch.contradictions import taken_away
from streamproof.runtime.batch.deciding import Deciding
from streamproof.runtime.batch.describing import Describing, counts_of
from streamproof.runtime.batch.pacing import Pace
from streamproof.runtime.batch.publishing import Publisher
from streamproof.runtime.batch.staging import REASON, Staging
from streamproof.runtime.batch.started import StartedQuery
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.journal.losses import Losses
from streamproof.runtime.rows.parking import Parking
from streamproof.runtime.tables.versions import QueryTables
from streamproof.runtime.watching.events import BatchCommitted, BatchPlanned, BatchStaged, QueryEvents
from streamproof.runtime.watching.latency import Aged, Latency, Since, latencies
from streamproof.runtime.watching.measures import Stopwatch
from streamproof.runtime.watching.watch import Watch

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass
class Done:
    """What this start of the driver has worked through, as sums: batches, of them without input, input records, rows of each output,
    reasons why rows have left, by the side.
    """

    batches: int = 0
    without_input: int = 0
    input: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, manifest: Manifest) -> None:
        self.batches += 1
        self.without_input += not manifest.counts["input"]
        self.input += manifest.counts["input"]
        self.rows.update({section.output: section.digest.rows for section in manifest.sections})
        for key, rows in manifest.counts.items():
            if key.startswith(f"{REASON}."):
                _, side, reason = key.split(".", 2)
                self.reasons[side, reason] += rows

    def reasons_of(self, side: Side) -> dict[str, int]:
        """Why rows have left by a side output, and how many."""
        return {reason: rows for (of, reason), rows in self.reasons.items() if of == str(side)}


@dataclass
class Begun:
    """A batch that has begun, what it is, and whether it is published, or waits for a store."""

    batch: int
    logs: BatchLogs
    published: bool = False


class RunEnds(Exception):
    """Raised instead of beginning a batch, when the run was asked to end."""


@dataclass
class BatchProtocol:
    """Called by Spark once per batch, in the thread of the query; one object per query and start."""

    said_under_way: ClassVar[str] = "the next start does it again, and doubles nothing."
    """What becomes of a batch that the end of a run interrupts."""
    ends_between_batches: ClassVar[bool] = True
    """Whether there is a moment between two batches that is worth waiting for."""
    query: StartedQuery
    staging: Staging
    describing: Describing
    deciding: Deciding
    publisher: Publisher
    losses: Losses
    watch: Watch
    commits: Commits
    parking: Parking | None = None
    tables: QueryTables | None = None
    pace: Pace = field(default_factory=Pace)
    ending: bool = field(init=False, default=False)
    failure: Exception | None = field(init=False, default=None)
    begun: Begun | None = field(init=False, default=None)
    """The newest batch that this start has begun."""
    done: Done = field(init=False, default_factory=Done)

    @property
    def events(self) -> QueryEvents:
        return self.query.events

    def follow(self, stream: "StreamingQuery") -> None:
        """Says which of Spark's queries this is, once it has started."""
        self.commits.stream = stream

    def __call__(self, rows: _jvm.BatchRows, batch: int) -> None:
        try:
            self.run(rows, batch)
        except Exception as problem:
            self.fails(problem)
            raise

    def fails(self, problem: Exception) -> None:
        """Keeps what stops the query: Spark says of it only that Python has raised something."""
        self.failure = problem

    def run(self, rows: _jvm.BatchRows, batch: int) -> None:
        """Stages the batch, decides by manifest and ledger, publishes."""
        self.commits.another_begins()
        if self.ending:
            raise RunEnds
        planned, watch = monotonic_seconds(), Stopwatch()
        watch.enter(Phase.PLAN)
        name, journal = self.query.name, self.query.journal
        attempt = f"{batch:06d}-{self.query.identity.run}"
        logs = journal.logs.of(batch)
        since_its_clock_ms = to_micros(now_utc()) // 1_000 - logs.clock_ms
        logs = logs if self.tables is None else self.tables.noted(batch, logs)
        self.begun = Begun(batch, logs)
        files = sum(len(read) for read in logs.fingerprint.files.values())
        watermark = instant(logs.fingerprint.watermark_ms)
        self.events.emit(BatchPlanned(name, batch, watermark, files, self.pace.limits))
        journal.logs.require_inputs(logs, batch, whole=self.query.whole_files)
        work = self.staging.stage(rows, batch, attempt, logs, watch)
        staged = self.describing.manifest(batch, attempt, logs, work)
        manifest = self.deciding.decide(staged)
        watch.enter(None)
        standing = monotonic_seconds()
        counts = counts_of(manifest)
        written = {section.output: section.digest.rows for section in manifest.sections}
        replayed = manifest is not staged
        self.events.emit(BatchStaged(name, batch, counts, written, replayed, standing - planned))
        watch.enter(Phase.PUBLISH)
        try:
            self.publisher.publish(manifest)
        except StagedRowsGone as gone:
            if manifest is not staged or gone.batch not in (None, batch):  # of an earlier batch that still waits
                raise
            raise taken_away(gone, batch) from gone
        watch.enter(None)
        passed_ms = since_its_clock_ms + int((monotonic_seconds() - planned) * 1_000)  # whatever the wall clock does meanwhile
        latency = self._latency(batch, work.aged, passed_ms)
        self._is_published(batch)
        if self.parking is not None:
            self.parking.prune(batch)
        self.done.add(manifest)
        self.watch.saw(batch, logs, rows, manifest.counts[LATE.kind], self.events)
        self.watch.saw_keys(batch, work.by_key, rows, self.events)
        self.pace.saw(logs.fingerprint)
        self.commits.newest = BatchCommitted(name, batch, counts, written, watermark, watch.milliseconds, latency=latency)
        self.begun.published = True

    def _latency(self, batch: int, aged: Mapping[tuple[Since, str], Aged], passed_ms: int) -> tuple[Latency, ...]:
        """How old the records were when readers got them; empty where they have not: the batch waits for an output."""
        if batch in self.publisher.open_batches:
            return ()
        return tuple(latencies(aged, passed_ms))

    def _is_published(self, batch: int) -> None:
        """Removes what nobody needs any more once a batch is published, or waits for an output that is down."""
        self.losses.written_down(batch)
        if batch:
            self.publisher.drop_published(batch - 1)
        self.query.journal.manifests.prune(batch, self.publisher.open_batches)
        if self.tables is not None:
            self.tables.prune(batch)

    def look_for_commit(self) -> None:
        """Emits that the newest batch is committed, as soon as it is."""
        self.commits.look()

    def finish(self, patience_seconds: float, asked_to_end: Callable[[], bool] = bool) -> None:
        """At the end of a run: waits for stores that are down, unless it is asked to end, and removes what is staged of batches that are done.

        Raises
        ------
        SinkUnavailable
            If batches still wait when the patience is at its end; the next run publishes them.
        """
        self.look_for_commit()
        self.events.note(*self.watch.noticed.look())
        if not self.publisher.finish(patience_seconds, asked_to_end):
            return
        for number in self.query.journal.logs.batches("commits")[-2:]:
            self.publisher.drop_published(number)


def instant(milliseconds: int) -> datetime | None:
    """The instant of a watermark; None where there is none yet, or it lies beyond the year 9999."""
    return instant_at(milliseconds * 1000) if milliseconds > 0 else None
