"""The life of one micro-batch after Spark's work phase: stage, manifest, publish (PROTOCOL R3-R8)."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from streamproof import __version__, _jvm
from streamproof.connectors.sink import Sink
from streamproof.core.account import COUNTED
from streamproof.core.clock import from_micros, monotonic_seconds
from streamproof.core.ids import new_id
from streamproof.core.manifest import Chain, Manifest, first_unknown
from streamproof.core.notes import Note, NoteCode
from streamproof.core.phases import Phase
from streamproof.core.places import seen_from
from streamproof.core.sides import LATE, Side
from streamproof.errors import StagedRowsGone
from streamproof.runtime.batch.contradictions import (
    taken_away,
)
from streamproof.runtime.batch.deciding import Deciding
from streamproof.runtime.batch.publishing import Publisher
from streamproof.runtime.batch.staging import REASON, WRITTEN_COPIES, Staged, Staging
from streamproof.runtime.journal.logs import BatchLogs, QueryLogs
from streamproof.runtime.journal.losses import Losses
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.journal.published import chain_before
from streamproof.runtime.rows.parking import Parking
from streamproof.runtime.watching.events import BatchCommitted, BatchPlanned, BatchStaged, QueryEvents, WatermarkLeapt
from streamproof.runtime.watching.idle import IdleSources
from streamproof.runtime.watching.leaps import Leaps
from streamproof.runtime.watching.measures import Measures, Stopwatch
from streamproof.runtime.watching.noticed import Noticed
from streamproof.runtime.watching.quiet import QuietSources
from streamproof.stream.identity import MadeBy
from streamproof.stream.node import Node

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from streamproof._jvm import Doors, Storage

_DIGEST_KEYS = ("input", "expanded", *COUNTED)


@dataclass(frozen=True)
class Identity:
    """Who runs: job, query, incarnation of the checkpoint, and this start of the driver; what it reads, by name the ids of topics; what its
    state is made by.
    """

    job: str
    query: str
    incarnation: str
    run: str
    spark_name: str
    topics: Mapping[str, str] = field(default_factory=dict)
    made_by: MadeBy = field(default_factory=dict)


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


class RunEnds(Exception):
    """Raised instead of beginning a batch, when the run was asked to end."""


@dataclass
class BatchProtocol:
    """Called by Spark once per batch, in the thread of the query; one object per query and start."""

    said_under_way: ClassVar[str] = "the next start does it again, and doubles nothing."
    """What becomes of a batch that the end of a run interrupts."""
    ends_between_batches: ClassVar[bool] = True
    """Whether there is a moment between two batches that is worth waiting for."""
    spark: SparkSession
    storage: "Storage"
    identity: Identity
    doors: "Doors"
    manifests: ManifestStore
    logs: QueryLogs
    sinks: Mapping[str, Sink]
    targets: Mapping[str, Sequence[str]]
    """By output the names of its sinks: its own, or several."""
    publisher: Publisher
    sides: Mapping[Side, str]
    columns: Mapping[str, StructType]
    floats: Mapping[str, float]
    root: Node
    whole_files: Sequence[str]
    events: QueryEvents
    leaps: Leaps
    quiet: QuietSources
    idle: IdleSources
    losses: Losses
    noticed: Noticed
    measures: Measures
    parking: Parking | None = None
    parked: StructType | None = None
    """The columns of rows that wait, as Spark gives them."""
    steps: Mapping[str, float] = field(default_factory=dict)
    accept_replay: int | None = None
    ending: bool = False
    failure: Exception | None = None
    done: Done = field(default_factory=Done)
    _staging: Staging = field(init=False)
    _deciding: Deciding = field(init=False)
    _uncommitted: BatchCommitted | None = None
    """What is said of the newest batch once Spark has committed it."""
    _committing: threading.RLock = field(default_factory=threading.RLock)
    _stream: "StreamingQuery | None" = None

    def __post_init__(self) -> None:
        self._staging = Staging(
            query=self.identity.query,
            spark=self.spark,
            storage=self.storage,
            doors=self.doors,
            manifests=self.manifests,
            sinks=self.sinks,
            targets=self.targets,
            sides=self.sides,
            columns=self.columns,
            floats=self.floats,
            root=self.root,
            parking=self.parking,
            parked=self.parked,
            steps=self.steps,
        )
        self._deciding = Deciding(self.manifests, self.sinks, self.publisher, self.events, self.parking, self.accept_replay)

    def follow(self, stream: "StreamingQuery") -> None:
        """Says which of Spark's queries this is, once it has started."""
        self._stream = stream

    def __call__(self, rows: _jvm.BatchRows, batch: int) -> None:
        try:
            self.run(rows, batch)
        except Exception as problem:
            self.failure = problem
            raise

    def run(self, rows: _jvm.BatchRows, batch: int) -> None:
        """Stages the batch, decides by manifest and ledger, publishes."""
        self._is_committed(self._uncommitted)  # Spark begins no batch before it has committed the one before
        if self.ending:
            raise RunEnds
        planned, watch = monotonic_seconds(), Stopwatch()
        watch.enter(Phase.PLAN)
        attempt = f"{batch:06d}-{self.identity.run}"
        logs = self.logs.of(batch)
        files = sum(len(read) for read in logs.fingerprint.files.values())
        watermark = instant(logs.fingerprint.watermark_ms)
        self.events.emit(BatchPlanned(self.identity.query, batch, watermark, files))
        self.logs.require_inputs(logs, batch, whole=self.whole_files)
        staged = self._manifest(batch, attempt, logs, self._staging.stage(rows, batch, attempt, logs, watch))
        manifest = self._deciding.decide(staged)
        watch.enter(None)
        standing = monotonic_seconds()
        counts = self._counts(manifest)
        written = {section.output: section.digest.rows for section in manifest.sections}
        replayed = manifest is not staged
        self.events.emit(BatchStaged(self.identity.query, batch, counts, written, replayed, standing - planned))
        watch.enter(Phase.PUBLISH)
        try:
            self.publisher.publish(manifest)
        except StagedRowsGone as gone:
            if manifest is not staged or gone.batch not in (None, batch):  # of an earlier batch that still waits
                raise
            raise taken_away(gone, batch) from gone
        watch.enter(None)
        self.losses.written_down(batch)
        if batch:
            self.publisher.drop_published(batch - 1)
        self.manifests.prune(batch, self.publisher.open_batches)
        if self.parking is not None:
            self.parking.prune(batch)
        self.done.add(manifest)
        self.events.note(*self.noticed.look())
        self.quiet.saw(batch, logs)
        self.idle.saw(logs, rows)
        leap = self.leaps.saw(batch, logs, manifest.counts[LATE.kind])
        if leap is not None:
            self.events.emit(WatermarkLeapt(leap.query, leap.batch, leap.before, leap.after))
        self._uncommitted = BatchCommitted(self.identity.query, batch, counts, written, watermark, watch.milliseconds)

    def look_for_commit(self) -> None:
        """Emits that the newest batch is committed, as soon as Spark's commit log says so; the run asks now and then, from its own thread.

        Spark tells what a batch took right after it has committed it. So a query that still runs is waited for until it has.
        """
        newest = self._uncommitted
        if newest is not None and self.logs.committed(newest.batch):
            self._is_committed(newest, measured_only=self._stream is not None and self._stream.isActive)

    def _is_committed(self, event: BatchCommitted | None, *, measured_only: bool = False) -> None:
        """Emits it, unless the other thread has; with `measured_only` not before Spark has told what it took."""
        with self._committing:
            if event is None or event is not self._uncommitted:
                return
            progress = self._progress_of(event.batch)
            if progress is None and measured_only and self.events.emitter.heard:
                return
            self._uncommitted = None
            self.events.emit(event if progress is None else self.measures.complete(event, progress))

    def _progress_of(self, batch: int) -> Mapping[str, Any] | None:
        """What Spark says of the newest batch that it has committed; None where nobody listens, or it has not said it yet."""
        if self._stream is None or not self.events.emitter.heard:
            return None
        found = _jvm.newest_progress(self._stream)
        return found if found is not None and found["batchId"] == batch else None

    def finish(self, patience_seconds: float, asked_to_end: Callable[[], bool] = bool) -> None:
        """At the end of a run: waits for stores that are down, unless it is asked to end, and removes what is staged of batches that are done.

        Raises
        ------
        SinkUnavailable
            If batches still wait when the patience is at its end; the next run publishes them.
        """
        self.look_for_commit()
        self.events.note(*self.noticed.look())
        if not self.publisher.finish(patience_seconds, asked_to_end):
            return
        for number in self.logs.batches("commits")[-2:]:
            self.publisher.drop_published(number)

    # -- manifest

    @staticmethod
    def _counts(manifest: Manifest) -> dict[str, int]:
        """Where the records of a batch are, as events say it."""
        return {key: manifest.counts.get(key, 0) for key in _DIGEST_KEYS}

    def _manifest(
        self,
        batch: int,
        attempt: str,
        logs: BatchLogs,
        staged: Staged,
    ) -> Manifest:
        before = self._before(batch)
        totals = {
            f"total.{key}": staged.counts.get(key, 0) + (before.counts.get(f"total.{key}", 0) if before else 0)
            for key in (*_DIGEST_KEYS, WRITTEN_COPIES)
        }
        return Manifest(
            id=new_id(),
            job=self.identity.job,
            query=self.identity.query,
            incarnation=self.identity.incarnation,
            batch=batch,
            attempt=attempt,
            fingerprint=logs.fingerprint,
            offset_log=logs.offset_log,
            source_logs=logs.source_logs,
            sections=tuple(replace(section, earlier=self._earlier(section.output, before, batch)) for section in staged.sections),
            counts={**staged.counts, **totals},
            places={output: seen_from(self.manifests.checkpoint, sink.place.where) for output, sink in self.sinks.items()},
            connectors={output: sink.place.connector for output, sink in self.sinks.items()},
            topics=self.identity.topics,
            made_by=self.identity.made_by,
            version=__version__,
            unknown_since=_unknown_since(before, batch),
            parked=staged.parked,
        )

    def _earlier(self, output: str, before: Manifest | None, batch: int) -> Chain | None:
        """The batches with rows that an output has had before this one (R26)."""
        accepted = self.losses.earlier(output, batch)
        return accepted if accepted is not None else chain_before(self.manifests, self.sinks[output], output, before, batch)

    def _before(self, batch: int) -> Manifest | None:
        """The manifest whose totals this batch goes on from: of the batch before, else the nearest that is left."""
        if batch == 0:
            return None
        found = self.manifests.read(batch - 1)
        if found is not None:
            return found
        earlier = [number for number in self.manifests.batches() if number < batch]
        said = (
            f"The manifest of batch {batch - 1} of {self.identity.query} is missing: the account leaves out what lies between "
            f"batch {earlier[-1] if earlier else 'none'} and batch {batch}."
        )
        self.events.note(Note(NoteCode.MANIFEST_MISSING, said))
        return self.manifests.read(earlier[-1]) if earlier else None


def instant(milliseconds: int) -> datetime | None:
    """The instant of a watermark; None where there is none yet, or it lies beyond the year 9999."""
    with suppress(OverflowError, ValueError):
        return from_micros(milliseconds * 1000) if milliseconds > 0 else None
    return None


def _unknown_since(before: Manifest | None, batch: int) -> int | None:
    """Since when the account is unknown of a batch that goes on from the manifest `before`: with one between them lost, it leaves that out."""
    follows = before.batch + 1 if before is not None else 0
    return first_unknown(before.unknown_since if before is not None else None, follows if follows < batch else None)
