"""Makes staged rows visible, output by output. An output that is down does not stop the others, nor double their rows (R8)."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from streamproof.connectors.sink import Sink
from streamproof.core.clock import monotonic_seconds
from streamproof.core.manifest import Chain, Manifest, Section
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import (
    CheckpointError,
    SinkError,
    SinkUnavailable,
    StagedRowsGone,
    StoreEmptied,
    TwoDrivers,
    WrongCheckpoint,
)
from streamproof.runtime.batch.contradictions import another_driver, older_copy
from streamproof.runtime.batch.pauses import Pause
from streamproof.runtime.journal.losses import Loss, Losses
from streamproof.runtime.journal.manifests import ManifestStore, batches_with_rows
from streamproof.runtime.journal.published import emptied
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
    waiting: dict[str, list[int]] = field(default_factory=dict)
    reasons: dict[str, SinkUnavailable] = field(default_factory=dict)
    _pauses: dict[str, Pause] = field(default_factory=dict)
    _most: dict[str, int] = field(default_factory=dict)
    _newest: dict[str, int] = field(default_factory=dict)
    """Of each output that was admitted, the newest batch that it had then."""
    _just_published: dict[str, tuple[int, Section]] = field(default_factory=dict)
    """Of outputs that catch up, what they have taken last: it stays staged until they have taken the next one."""
    _unseen: dict[str, Sequence[int]] = field(default_factory=dict)
    """Of outputs that were down when the run began, the batches that Spark had committed then."""
    _lock: threading.RLock = field(default_factory=threading.RLock)

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
        for output, sink in self.sinks.items():
            self.waiting[output] = []
            if not sink.may_lag:
                continue
            try:
                self.waiting[output] = self._left_behind(output, committed)
            except SinkUnavailable as problem:
                self.waiting[output] = [number for number in committed if self._is_staged(number, output)]
                self._unseen[output] = committed
                self._is_down(output, problem)
        for number in committed[-2:]:
            self.drop_published(number)

    def _left_behind(self, output: str, committed: Sequence[int]) -> list[int]:
        """The batches that an output waits for, oldest first: those behind the newest that is published whole."""
        sink, left = self.sinks[output], list[int]()
        for link in batches_with_rows(self._manifest, output, committed):
            if link.manifest is not None and link.section is not None:
                if sink.complete(link.manifest, link.section):
                    break
                left.append(link.batch)
            elif link.chain is not None or sink.has_staged(link.batch):
                entries = sink.entries(link.batch)
                if entries and len(entries) >= entries[0].shards:
                    break
                if entries or link.chain is None or sink.has_staged(link.batch):
                    raise _lost(self.manifests.path(link.batch), output)
                return self._without_what_is_gone(output, link.chain, left[::-1], committed)
        return left[::-1]

    def _without_what_is_gone(self, output: str, gone: Chain, left: list[int], committed: Sequence[int]) -> list[int]:
        """What an output that was emptied still waits for, where that is accepted; else StoreEmptied."""
        sink, mine = self.sinks[output], next(self.manifests.newest_first(), None)
        other = another_driver(sink, mine.incarnation) if mine is not None else None
        if other is not None:
            raise other
        if self.losses is None or not self.losses.lets_go(output, gone.count, gone.sum):
            raise emptied(sink, gone)
        staged = [number for number in left if sink.has_staged(number)]
        there, chain = self.manifests.batches(), Chain()
        later = [number for number in there if number > committed[-1] and self._has_rows(number, output)]
        for number in (*staged, *later):
            chain = chain.then(number)
        self.losses.keep(output, Loss(gone.count, gone.sum, there[-1], chain))
        said = f"{sink.place.where} knows nothing of what was published there up to batch {gone.newest}: accepted as lost."
        self.events.note(Note(NoteCode.LOSS_ACCEPTED, said))
        return staged

    def _look_back_again(self, output: str) -> None:
        """Asks an output what could not be asked when the run began: it may have come back without what it had."""
        committed = self._unseen.get(output)
        if committed is not None:
            since = [number for number in self.waiting[output] if number not in committed]
            had_to_wait = bool(self.waiting[output])
            self.waiting[output][:] = [*self._left_behind(output, committed), *since]
            del self._unseen[output]
            if had_to_wait and not self.waiting[output]:
                self._emit_waiting(output)

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
        for output, sink in self.sinks.items():
            if sink.may_lag:
                try:
                    self._admit(output)
                except SinkUnavailable as problem:
                    self._is_down(output, problem)
                    if self.waiting.get(output):
                        self._emit_waiting(output)
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
            for output, batches in self.waiting.items():
                if self.pauses(output) and not at_once:
                    continue
                try:
                    self._look_back_again(output)
                except SinkUnavailable as problem:
                    self._is_down(output, problem)
                    if batches:
                        self._emit_waiting(output)
                    continue
                while batches:
                    started = self.clock()
                    manifest = self._manifest(batches[0])
                    section = manifest.section(output) if manifest is not None else None
                    if manifest is None or section is None:
                        raise _lost(self.manifests.path(batches[0]), output)
                    try:
                        self._publish(manifest, section)
                        self._drop_the_one_before(output, (manifest.batch, section))
                    except SinkUnavailable as problem:
                        self._is_down(output, problem)
                        self._emit_waiting(output)
                        break
                    except StagedRowsGone as gone:
                        raise self._of_waiting(gone, batches[0], output) from gone
                    del batches[0]
                    self._emit_published(manifest, section, started)
                    self._is_up(output)

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
                output, count = behind[0].output, behind[0].batches
                why = self.reasons[output]
                raise SinkUnavailable(
                    f"{count} batch{'es' if count > 1 else ''} of {output} wait: {why.message}",
                    required="Nothing is lost: the rows are staged, their manifests name them.",
                    remedy="Run the job again once it answers; it publishes them first.",
                )
            self.wait(max(0.01, min(left, _LOOK_EVERY_SECONDS, *[each.seconds for each in behind])))
        self._tell()
        for output in tuple(self._just_published):
            self._drop_the_one_before(output)
        return True

    def drop_published(self, batch: int) -> None:
        """Removes what is staged of a batch that Spark has committed and a service has taken: files are moved, those are copied."""
        manifest = self._manifest(batch)
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
        return [self._waiting_now(output) for output, batches in self.waiting.items() if batches]

    def pauses(self, output: str) -> bool:
        """Whether an output is left alone for a while, since it is down."""
        return self._left(output) > 0

    @property
    def unseen(self) -> dict[str, int]:
        """By output the newest batch that Spark had committed when the run began, for outputs that have not answered since."""
        return {output: committed[-1] for output, committed in self._unseen.items() if committed}

    @property
    def open_batches(self) -> set[int]:
        """The batches that wait for any output."""
        return {number for batches in self.waiting.values() for number in batches}

    def _publish_or_wait(self, manifest: Manifest, section: Section) -> None:
        waiting = self.waiting.setdefault(section.output, [])
        if manifest.batch in waiting:
            return
        if not waiting and not self.pauses(section.output) and section.output not in self._unseen:
            started = self.clock()
            try:
                self._publish(manifest, section)
                self._emit_published(manifest, section, started)
                self._is_up(section.output)
                return
            except SinkUnavailable as problem:
                if not self.sinks[section.output].may_lag:
                    raise
                self._is_down(section.output, problem)
        waiting.append(manifest.batch)
        self._most[section.output] = max(len(waiting), self._most.get(section.output, 0))
        self._emit_waiting(section.output)
        limit = self.limits.get(section.output, 0)
        if len(waiting) > limit:
            raise SinkError(
                f"{len(waiting)} batches wait for {section.output}: {self.reasons[section.output].message}",
                required=f"[sink.{section.output}] backlog lets {limit} wait. Nothing is lost.",
                remedy="Run the job again once it answers; it publishes them first. Or raise backlog.",
            )

    def _publish(self, manifest: Manifest, section: Section) -> None:
        self._admit(section.output)
        sink, newest = self.sinks[section.output], self._newest[section.output]
        if manifest.batch < newest and not sink.entries(manifest.batch):
            raise self._older_copy(section.output, newest, f"and not batch {manifest.batch}, which has rows for it now")
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

    def _admit(self, output: str) -> None:
        if output in self._newest:
            return
        newest = self.admit(output)
        manifest = self._manifest(newest) if newest >= 0 else None
        self._newest[output] = newest
        if manifest is not None:
            self._require_nothing_published(manifest, output)

    def _require_nothing_published(self, manifest: Manifest, output: str) -> None:
        """WrongCheckpoint if a batch without rows for an output is published there: batches are published in order, each once (R1)."""
        section, newest = manifest.section(output), self._newest.get(output, -1)
        if manifest.batch > newest or section is None or section.digest.rows:
            return
        with suppress(SinkUnavailable):
            if self.sinks[output].entries(manifest.batch):
                raise self._older_copy(output, manifest.batch, "which has no rows for it now")

    def _is_needed(self, sink: Sink, batch: int) -> bool:
        """Whether what is staged of a batch is still to be published: to this sink, or to another of the same output."""
        return any(
            batch in self.waiting.get(output, ())
            for output, other in self.sinks.items()
            if other is sink or other.place.staging == sink.place.staging
        )

    def _older_copy(self, output: str, newest: int, but: str) -> WrongCheckpoint:
        return older_copy(self.manifests.checkpoint, self.sinks[output].place.where, newest, but)

    def _drop_the_one_before(self, output: str, taken: tuple[int, Section] | None = None) -> None:
        """Removes what is staged of the batch that an output took last; what it has taken now stays, should the store lose it again."""
        before = self._just_published.pop(output, None)
        if before is not None and not self._is_needed(self.sinks[output], before[0]):
            self.sinks[output].abort(before[1].directory)
        if taken is not None:
            self._just_published[output] = taken

    def _is_down(self, output: str, problem: SinkUnavailable) -> None:
        self.reasons[output] = problem
        self._pauses.setdefault(output, Pause(f"{self.manifests.checkpoint}/{output}", self.clock)).begin()

    def _is_up(self, output: str) -> None:
        """Notes that the output has taken a batch. After the next failure the pauses begin short again."""
        if not self.waiting.get(output):
            self._tell(output)

    def _tell(self, *outputs: str) -> None:
        """Notes which outputs had to wait, and forgets their pauses."""
        for output in outputs or tuple(self._pauses):
            pause = self._pauses.pop(output, None)
            if pause is not None:
                most, why = self._most.pop(output, 0), self.reasons.pop(output).message
                held = f"{most} batch{'es' if most != 1 else ''} at most, " if most else ""
                said = f"The output {output} had to wait ({held}asked {pause.tries + 1} times, with growing pauses): {why}"
                self.events.note(Note(NoteCode.HAD_TO_WAIT, said))

    def _emit_published(self, manifest: Manifest, section: Section, started: float) -> None:
        output, batch, rows = section.output, manifest.batch, section.digest.rows
        waiting = len(self.waiting.get(output, ()))
        self.events.emit(BatchPublished(self.events.query, batch, output, rows, self.clock() - started, waiting))

    def _emit_waiting(self, output: str) -> None:
        self.events.emit(self._waiting_now(output))

    def _waiting_now(self, output: str) -> PublicationWaiting:
        why = self.reasons[output].message if output in self.reasons else ""
        return PublicationWaiting(self.events.query, output, len(self.waiting.get(output, ())), self._left(output), why)

    def _left(self, output: str) -> float:
        return self._pauses[output].seconds_left if output in self._pauses else 0.0

    def _of_waiting(self, gone: StagedRowsGone, batch: int, output: str) -> StagedRowsGone:
        """The error for rows that are gone of a batch that waits: Spark has committed it, so that it is not computed again."""
        if gone.batch is None or batch == self.manifests.batches()[-1]:
            return gone
        return StagedRowsGone(
            gone.message,
            required=f"Spark has gone beyond batch {batch}: only the newest is computed again by --replay-last.",
            remedy=f"Bring what is below {self.sinks[output].place.staging} back from a backup. Without one, write {output} anew: "
            "a new checkpoint, and a new output.",
            batch=batch,
        )

    def _manifest(self, batch: int) -> Manifest | None:
        """The manifest of a batch; CheckpointError where it is torn: what an output still waits for would be forgotten."""
        try:
            return self.manifests.read(batch)
        except ValueError as problem:
            raise CheckpointError(
                f"{self.manifests.path(batch)} is {problem}.",
                required="It names the rows that an output may still wait for.",
                remedy="Restore it from a backup of the checkpoint.",
            ) from problem

    def _is_staged(self, batch: int, output: str) -> bool:
        """Whether a batch has rows for an output of which anything is staged."""
        return self._has_rows(batch, output) and self.sinks[output].has_staged(batch)

    def _has_rows(self, batch: int, output: str) -> bool:
        manifest = self._manifest(batch)
        section = manifest.section(output) if manifest is not None else None
        return section is not None and bool(section.digest.rows)


def _lost(path: str, output: str) -> CheckpointError:
    return CheckpointError(
        f"{path} is gone, and {output} still waits for its batch.",
        required="It names the rows that are to be published.",
        remedy="Restore it from a backup of the checkpoint.",
    )
