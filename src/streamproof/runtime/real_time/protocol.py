"""The life of a real-time batch: Spark writes and commits; then its manifest is made, and what it has rejected is published."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from streamproof import _jvm
from streamproof.core.clock import monotonic_seconds
from streamproof.core.manifest import Manifest
from streamproof.runtime.batch import BatchProtocol
from streamproof.runtime.contradictions import other_manifest
from streamproof.runtime.events import BatchCommitted

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass
class RealTimeProtocol(BatchProtocol):
    """Looks now and then which batches are over, in the thread of the run, and accounts for each; one object per query and start.

    The rows of the main output are in their topic by then. So a crash before the manifest costs no record: `unaccounted.py` has the batch
    read again.
    """

    said_under_way: ClassVar[str] = "its records are read again by the next start, and those that are in the topic are there twice."
    ends_between_batches: ClassVar[bool] = False
    _stream: "StreamingQuery | None" = None
    _next: int = 0
    _doors_seen: bool = False
    _began: float = field(default_factory=monotonic_seconds)

    def follow(self, stream: "StreamingQuery") -> None:
        """Says which of Spark's queries this is, once it has started."""
        self._stream = stream
        self._next = max(self.manifests.batches(), default=-1) + 1

    def look_for_commit(self) -> None:
        """Accounts for each batch that is over.

        Raises
        ------
        StreamproofError
            If what a batch has rejected cannot be published.
        """
        with self._committing:
            for batch, records in self._over():
                self._account_for(batch, records)
                self._next = batch + 1

    def _over(self) -> Iterator[tuple[int, int]]:
        """The batches that are over and not accounted for, oldest first, and how many records each has read.

        Spark says so of a batch once it has committed it. It remembers a hundred.
        """
        newest = self._stream.lastProgress if self._stream is not None else None
        if self._stream is None or newest is None or newest.batchId < self._next:
            return
        read = {progress.batchId: progress.numInputRows for progress in self._stream.recentProgress}
        while self._next in read:
            yield self._next, read[self._next]

    def _account_for(self, batch: int, records: int) -> None:
        self._require_doors_once()
        began = monotonic_seconds()
        logs, attempt = self.logs.of(batch), f"{batch:06d}-{self.identity.run}"
        manifest = self._manifest(batch, attempt, logs, self._staging.written_by_spark(batch, attempt, records))
        self._publish_sides(
            manifest, exactly_once=False
        )  # such a sink does not know what it has: it comes before, and may come again
        if not self.manifests.create(manifest):
            raise other_manifest(manifest)
        self._publish_sides(manifest, exactly_once=True)
        if batch:
            self.publisher.drop_published(batch - 1)
        self.manifests.prune(batch, self.publisher.open_batches)
        self.done.add(manifest)
        ended = monotonic_seconds()
        seconds = {"stage": began - self._began, "publish": ended - began}
        self._began = ended
        rows = {section.output: section.digest.rows for section in manifest.sections}
        self.events.emit(BatchCommitted(self.identity.query, batch, self._counts(manifest), rows, seconds))

    def _publish_sides(self, manifest: Manifest, *, exactly_once: bool) -> None:
        sides = tuple(
            section
            for section in manifest.sections
            if section.kind != "main" and self.sinks[section.output].exactly_once is exactly_once
        )
        self.publisher.publish(replace(manifest, sections=sides))

    def _require_doors_once(self) -> None:
        """DivertError if a row would be taken out twice (R5); the plan is the same in every batch."""
        if not self._doors_seen and self._stream is not None:
            _jvm.check_doors(_jvm.doors_of(self.spark, self._stream))
            self._doors_seen = True
