"""Makes staged rows visible, output by output. An output that is down does not stop the others, nor double their rows (R8)."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from streamproof.connectors.sink import Sink
from streamproof.core.clock import monotonic_seconds
from streamproof.core.manifest import Manifest, Section
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import (
    SinkUnavailable,
    StagedRowsGone,
    StoreEmptied,
    StreamproofError,
    TwoDrivers,
    WrongCheckpoint,
)
from streamproof.runtime.batch.backlog import Backlog
from streamproof.runtime.batch.contradictions import another_driver, older_copy
from streamproof.runtime.batch.left_waiting import LeftWaiting, lost
from streamproof.runtime.journal.losses import Losses
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.watching.events import BatchPublished, PublicationWaiting, QueryEvents

_LOOK_EVERY_SECONDS = 1.0


def _wait(seconds: float) -> None:
    threading.Event().wait(seconds)


def _before_begin(output: str) -> int:
    raise AssertionError(f"nothing is published to {output} before begin() has said who looks at it")


@dataclass
class Publisher:
    """Publishes the batches of one query, in order, and remembers which wait for an output that is down.

    Parameters
    ----------
    limits
        How many batches may wait for an output, by its name.
    events
        Where it says what it has published, what waits, and what is worth reading at the end of a run.
    accepted
        A batch that stands as it is published, although another manifest published it and this one holds other rows.
    losses
        What of an output that was emptied is accepted as lost.
    clock, wait
        Gives the seconds of a clock that never goes back; lets some pass.
    """

    manifests: ManifestStore
    sinks: Mapping[str, Sink]
    limits: Mapping[str, int]
    events: QueryEvents
    accepted: int | None = None
    losses: Losses | None = None
    clock: Callable[[], float] = monotonic_seconds
    wait: Callable[[float], None] = _wait
    admit: Callable[[str], int] = _before_begin
    _lock: threading.RLock = field(init=False, default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self._left_waiting = LeftWaiting(self.manifests, self.losses, self.events)
        whose = self.manifests.checkpoint
        self.backlogs = {
            output: Backlog(output, sink, self.limits.get(output, 0), f"{whose}/{output}", self.clock)
            for output, sink in self.sinks.items()
        }

    def look_back(self, committed: Sequence[int]) -> None:
        """Finds what earlier runs have left waiting: of each output that may fall behind, from the newest batch to one that is published.

        What is staged of published batches goes.

        Raises
        ------
        CheckpointError
            If the manifest of a batch that may wait is torn or missing.
        StoreEmptied
            If an output has lost what it was given, and no manifest of it is kept any more.
        """
        for output, backlog in self.backlogs.items():
            if not backlog.sink.may_lag:
                continue
            try:
                backlog.waiting = self._left_waiting.of(output, backlog.sink, committed)
            except SinkUnavailable as problem:
                backlog.waiting = self._left_waiting.staged(output, backlog.sink, committed)
                backlog.unseen = committed
                backlog.is_down(problem)
        for number in committed[-2:]:
            self.drop_published(number)

    def _look_back_again(self, backlog: Backlog) -> None:
        """Asks an output what could not be asked when the run began: it may have come back without what it had."""
        committed = backlog.unseen
        if committed is not None:
            since = [number for number in backlog.waiting if number not in committed]
            had_to_wait = bool(backlog.waiting)
            backlog.waiting[:] = [*self._left_waiting.of(backlog.output, backlog.sink, committed), *since]
            backlog.unseen = None
            if had_to_wait and not backlog.waiting:
                self._emit_waiting(backlog)

    def begin(self, admit: Callable[[str], int]) -> None:
        """Looks at every output that may fall behind, and publishes what waits for it.

        Parameters
        ----------
        admit
            Looks, before the first publication to an output, whether it is ours and takes our rows; gives the newest batch that it has of
            ours, -1 without one. SinkUnavailable where it cannot.

        Raises
        ------
        SinkError, OutputInUse, WrongCheckpoint
            If an output is not ours, has batches that we have not, or does not take our rows. One that is down is looked at when it answers.
        """
        self.admit = admit
        for backlog in self.backlogs.values():
            if backlog.sink.may_lag:
                try:
                    self._admit(backlog)
                except SinkUnavailable as problem:
                    backlog.is_down(problem)
                    if backlog.waiting:
                        self._emit_waiting(backlog)
        self.catch_up()

    def publish(self, manifest: Manifest) -> None:
        """Publishes a batch; an output that is down gets it later.

        Raises
        ------
        SinkError
            If a store refuses the rows, or more batches wait for one that is down than it is allowed.
        """
        with self._lock:
            self.catch_up()
            for section in manifest.sections:
                if section.digest.rows:
                    self._publish_or_wait(manifest, section)
                else:
                    self._require_nothing_published(manifest, section.output)

    def catch_up(self, *, at_once: bool = False) -> None:
        """Publishes what waits, in order, as far as the stores answer; one that is left alone for a while is not asked, unless `at_once`.

        Raises
        ------
        StagedRowsGone
            If what a batch has staged is not whole, with what is left to do.
        """
        with self._lock:
            for output, backlog in self.backlogs.items():
                if backlog.pauses and not at_once:
                    continue
                try:
                    self._look_back_again(backlog)
                except SinkUnavailable as problem:
                    backlog.is_down(problem)
                    if backlog.waiting:
                        self._emit_waiting(backlog)
                    continue
                while batches := backlog.waiting:
                    started = self.clock()
                    manifest = self._left_waiting.manifest(batches[0])
                    section = manifest.section(output) if manifest is not None else None
                    if manifest is None or section is None:
                        raise lost(self.manifests.path(batches[0]), output)
                    try:
                        self._publish(backlog, manifest, section)
                        self._drop_the_one_before(backlog, (manifest.batch, section))
                    except SinkUnavailable as problem:
                        backlog.is_down(problem)
                        self._emit_waiting(backlog)
                        break
                    except StagedRowsGone as gone:
                        raise self._of_waiting(gone, batches[0], backlog) from gone
                    del batches[0]
                    self._is_published(backlog, manifest, section, started)

    def catch_up_unless_busy(self) -> None:
        """Does what `catch_up` does, unless a batch is being published: then it returns at once, and the caller is not held up."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            self.catch_up()
        finally:
            self._lock.release()

    def finish(self, patience_seconds: float, asked_to_end: Callable[[], bool] = bool) -> bool:
        """Waits for stores that are down, at the end of a run, or until asked to end; whether nothing waits any more.

        Raises
        ------
        SinkUnavailable
            If batches still wait when the patience is at its end; the next run publishes them.
        """
        end = self.clock() + patience_seconds
        while True:
            left = end - self.clock()
            self.catch_up(at_once=left <= 0)  # the last look is not left out
            behind = self.behind
            if not behind:
                break
            if asked_to_end():
                return False
            if left <= 0:
                raise self.backlogs[behind[0].output].still_waits()
            self.wait(max(0.01, min(left, _LOOK_EVERY_SECONDS, *[each.seconds for each in behind])))
        for backlog in self.backlogs.values():
            self._tell(backlog)
            self._drop_the_one_before(backlog)
        return True

    def drop_published(self, batch: int) -> None:
        """Removes what is staged of a batch that Spark has committed and a service has taken: files are moved, those are copied."""
        manifest = self._left_waiting.manifest(batch)
        for section in manifest.sections if manifest is not None else ():
            sink = self.sinks.get(section.output)
            if (
                sink is not None
                and (sink.may_lag or sink.place.shared)
                and section.digest.rows
                and not self._is_needed(sink, batch)
            ):
                sink.abort(section.directory)

    @property
    def behind(self) -> list[PublicationWaiting]:
        """The outputs that batches wait for."""
        return [backlog.now(self.events.query) for backlog in self.backlogs.values() if backlog.waiting]

    def pauses(self, output: str) -> bool:
        """Whether an output is left alone for a while, since it is down."""
        return self.backlogs[output].pauses

    @property
    def unseen(self) -> dict[str, int]:
        """By output the newest batch that Spark had committed when the run began, for outputs that have not answered since."""
        return {output: backlog.unseen[-1] for output, backlog in self.backlogs.items() if backlog.unseen}

    @property
    def open_batches(self) -> set[int]:
        """The batches that wait for any output."""
        return {number for backlog in self.backlogs.values() for number in backlog.waiting}

    def _publish_or_wait(self, manifest: Manifest, section: Section) -> None:
        backlog = self.backlogs[section.output]
        if manifest.batch in backlog.waiting:
            return
        if backlog.takes_now:
            started = self.clock()
            try:
                self._publish(backlog, manifest, section)
                self._is_published(backlog, manifest, section, started)
                return
            except SinkUnavailable as problem:
                if not backlog.sink.may_lag:
                    raise
                backlog.is_down(problem)
        backlog.waits(manifest.batch)
        self._emit_waiting(backlog)
        backlog.require_within_limit()

    def _publish(self, backlog: Backlog, manifest: Manifest, section: Section) -> None:
        try:
            self._publish_now(backlog, manifest, section)
        except StreamproofError as problem:
            problem.is_at(output=section.output, batch=manifest.batch)
            raise

    def _publish_now(self, backlog: Backlog, manifest: Manifest, section: Section) -> None:
        sink, newest = backlog.sink, self._admit(backlog)
        if manifest.batch < newest and not sink.entries(manifest.batch):
            raise self._older_copy(sink, newest, f"and not batch {manifest.batch}, which has rows for it now")
        sink.prepare(manifest, section)
        try:
            sink.publish(manifest, section)
        except StoreEmptied as lacks:
            other = another_driver(sink, manifest.incarnation, manifest.batch)
            if other is None:
                raise
            raise other from lacks
        except TwoDrivers:
            found = sink.entries(manifest.batch) if manifest.batch == self.accepted else ()
            if not found or found[0].fingerprint != manifest.fingerprint.hash:
                raise
            # Under the id that the ledger knows: what is published stands, and parts that are missing are published from these rows.
            sink.publish(replace(manifest, id=found[0].manifest), replace(section, shards=found[0].shards))
            self.manifests.mark_unknown(manifest.batch)
            said = (
                f"Batch {manifest.batch} of {section.output} was accepted as another manifest has published it, with {found[0].rows:,} rows; "
                f"this one holds {section.digest.rows:,}. The account of that batch is unknown."
            )
            self.events.note(Note(NoteCode.REPLAY_ACCEPTED, said))

    def _admit(self, backlog: Backlog) -> int:
        """The newest batch that an output had when it was looked at, which is now unless it was before."""
        if backlog.newest is None:
            newest = self.admit(backlog.output)
            manifest = self._left_waiting.manifest(newest) if newest >= 0 else None
            backlog.newest = newest
            if manifest is not None:
                self._require_nothing_published(manifest, backlog.output)
        return backlog.newest

    def _require_nothing_published(self, manifest: Manifest, output: str) -> None:
        """WrongCheckpoint if a batch without rows for an output is published there: batches are published in order, each once (R1)."""
        section, backlog = manifest.section(output), self.backlogs.get(output)
        newest = backlog.newest if backlog is not None and backlog.newest is not None else -1
        if backlog is None or manifest.batch > newest or section is None or section.digest.rows:
            return
        with suppress(SinkUnavailable):
            if backlog.sink.entries(manifest.batch):
                raise self._older_copy(backlog.sink, manifest.batch, "which has no rows for it now")

    def _is_needed(self, sink: Sink, batch: int) -> bool:
        """Whether what is staged of a batch is still to be published: to this sink, or to another of the same output."""
        return any(
            batch in backlog.waiting
            for backlog in self.backlogs.values()
            if backlog.sink is sink or backlog.sink.place.staging == sink.place.staging
        )

    def _older_copy(self, sink: Sink, newest: int, but: str) -> WrongCheckpoint:
        return older_copy(self.manifests.checkpoint, sink.place.where, newest, but)

    def _drop_the_one_before(self, backlog: Backlog, taken: tuple[int, Section] | None = None) -> None:
        """Removes what is staged of the batch that an output took last; what it has taken now stays, should the store lose it again."""
        before, backlog.just_published = backlog.just_published, taken
        if before is not None and not self._is_needed(backlog.sink, before[0]):
            backlog.sink.abort(before[1].directory)

    def _is_published(self, backlog: Backlog, manifest: Manifest, section: Section, started: float) -> None:
        """Says that an output has taken a batch; where nothing waits any more, its pauses are over."""
        rows, waiting = section.digest.rows, len(backlog.waiting)
        self.events.emit(BatchPublished(self.events.query, manifest.batch, backlog.output, rows, self.clock() - started, waiting))
        if not waiting:
            self._tell(backlog)

    def _tell(self, backlog: Backlog) -> None:
        note = backlog.is_over()
        if note is not None:
            self.events.note(note)

    def _emit_waiting(self, backlog: Backlog) -> None:
        self.events.emit(backlog.now(self.events.query))

    def _of_waiting(self, gone: StagedRowsGone, batch: int, backlog: Backlog) -> StagedRowsGone:
        """The error for rows that are gone of a batch that waits: Spark has committed it, so that it is not computed again."""
        if gone.batch is None or batch == self.manifests.batches()[-1]:
            return gone
        return StagedRowsGone(
            gone.message,
            required=f"Spark has gone beyond batch {batch}: only the newest is computed again by --replay-last.",
            remedy=f"Bring what is below {backlog.sink.place.staging} back from a backup. Without one, write {backlog.output} anew: "
            "a new checkpoint, and a new output.",
            batch=batch,
        )
