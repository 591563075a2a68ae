"""The life of a real-time batch: Spark writes and commits; then its manifest is made, and what it has rejected is published."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from streamproof import _jvm
from streamproof.checkpoint.logs import positions_in
from streamproof.core.manifest import Manifest
from streamproof.core.phases import Phase
from streamproof.errors import CheckpointError, TwoDrivers
from streamproof.runtime.batch.contradictions import other_manifest
from streamproof.runtime.batch.describing import counts_of
from streamproof.runtime.batch.protocol import BatchProtocol, instant
from streamproof.runtime.real_time.slots import require_still_read
from streamproof.runtime.watching.events import BatchCommitted
from streamproof.runtime.watching.measures import Stopwatch

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

    from streamproof.runtime.journal.logs import BatchLogs


@dataclass
class RealTimeProtocol(BatchProtocol):
    """Looks now and then which batches are over, in the thread of the run, and accounts for each; one object per query and start.

    The rows of the main output are in their topic by then. So a crash before the manifest costs no record: `unaccounted.py` has the batch
    read again.
    """

    said_under_way: ClassVar[str] = "its records are read again by the next start, and those that are in the topic are there twice."
    ends_between_batches: ClassVar[bool] = False
    _next: int = field(init=False, default=0)
    _looking: threading.RLock = field(init=False, default_factory=threading.RLock)
    _doors_seen: bool = field(init=False, default=False)
    _partitions: int | None = field(init=False, default=None)
    """How many the first batch of this run has read."""

    def follow(self, stream: "StreamingQuery") -> None:
        super().follow(stream)
        self._next = max(self.query.journal.manifests.batches(), default=-1) + 1

    def look_for_commit(self) -> None:
        """Accounts for each batch that is over.

        Raises
        ------
        StreamproofError
            If what a batch has rejected cannot be published, another driver works on the checkpoint, or a partition is not read any more.
        """
        with self._looking:
            for progress in self._over():
                self._account_for(progress)
                self._next = progress.batchId + 1

    def _over(self) -> Iterator["StreamingQueryProgress"]:
        """What Spark says of each batch that is over and not accounted for, oldest first. It says so once it has committed it."""
        stream = self.commits.stream
        newest = stream.lastProgress if stream is not None else None
        if stream is None or newest is None or newest.batchId < self._next:
            return
        said = {newest.batchId: newest}
        if newest.batchId > self._next:
            said |= {progress.batchId: progress for progress in stream.recentProgress}
        for batch in range(self._next, newest.batchId + 1):
            if batch not in said:
                raise CheckpointError(
                    f"Batch {batch} of {self.query.name} is over, and Spark has forgotten how many records it has read.",
                    required="It remembers the newest ones only; this driver has not looked for longer than that.",
                    remedy="Run it again: the records of that batch and of all after it are read again, and are in the topic twice. Where it "
                    "happens again, take longer batches, or look what holds this driver up.",
                )
            yield said[batch]

    def _account_for(self, progress: "StreamingQueryProgress") -> None:
        batch, journal = progress.batchId, self.query.journal
        self._require_doors_once()
        watch = Stopwatch()
        watch.enter(Phase.STAGE)
        self._require_own_logs(progress)
        attempt, logs = f"{batch:06d}-{self.query.identity.run}", journal.logs.of(batch)
        staged = self.staging.written_by_spark(batch, attempt, progress.numInputRows)
        manifest = self.describing.manifest(batch, attempt, logs, staged)
        # A sink without a ledger does not know what it has: it comes before the manifest, and may come again.
        watch.enter(Phase.PUBLISH)
        self._publish_sides(manifest, exactly_once=False)
        watch.enter(Phase.STAGE)
        self._require_own_logs(progress)
        if not journal.manifests.create(manifest):
            raise other_manifest(manifest)
        watch.enter(Phase.PUBLISH)
        self._publish_sides(manifest, exactly_once=True)
        watch.enter(None)
        self._is_published(batch)
        sent = dict.fromkeys(self.query.sinks.targets[self.query.name], manifest.counts["emitted"])
        self.done.add(manifest)
        self.done.rows.update(sent)
        rows = {**{section.output: section.digest.rows for section in manifest.sections}, **sent}
        watermark = instant(logs.fingerprint.watermark_ms)
        event = BatchCommitted(self.query.name, batch, counts_of(manifest), rows, watermark, watch.milliseconds)
        self.events.emit(self.commits.measures.complete(event, json.loads(progress.json)))
        self._require_all_read(logs)

    def _require_own_logs(self, progress: "StreamingQueryProgress") -> None:
        """TwoDrivers unless the offset log of a batch says what this driver's query has read."""
        batch, written = progress.batchId, self.query.journal.logs.offsets(progress.batchId)
        mine = [positions_in(source.endOffset) for source in progress.sources if source.endOffset]
        if written is not None and [positions_in(end) for end in written[1].sources if end] == mine:
            return
        raise TwoDrivers(
            f"Another driver works on this checkpoint, or has: offsets/{batch} is {'gone' if written is None else 'not what this one has read'}.",
            required="One driver works on a checkpoint at a time. The rows of that batch are in the topic, its records are not accounted for.",
            remedy="Stop one of them, and run again: what is not accounted for is read again, and is in the topic twice.",
        )

    def _require_all_read(self, logs: "BatchLogs") -> None:
        """EnvironmentProblem if the batches to come would leave a partition out."""
        topics = [ends for end in logs.fingerprint.offsets for ends in (positions_in(end) or {}).values()]
        read = sum(map(len, topics))
        self._partitions = self._partitions or read
        require_still_read(self.query.spark, self.query.name, read, self._partitions)

    def _publish_sides(self, manifest: Manifest, *, exactly_once: bool) -> None:
        sides = tuple(
            section
            for section in manifest.sections
            if section.kind != "main" and self.query.sinks.by_name[section.output].exactly_once is exactly_once
        )
        self.publisher.publish(replace(manifest, sections=sides))

    def _require_doors_once(self) -> None:
        """DivertError if a row would be taken out twice (R5); the plan is the same in every batch."""
        stream = self.commits.stream
        if not self._doors_seen and stream is not None:
            _jvm.check_doors(_jvm.doors_of(self.query.spark, stream))
            self._doors_seen = True
