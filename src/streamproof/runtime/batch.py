"""The life of one micro-batch behind Spark's work phase: stage, manifest, publish (PROTOCOL R3-R8)."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, StringType, StructField, StructType

from streamproof import __version__, _jvm
from streamproof.connectors.files.formats import SPARK_NAME, write_options
from streamproof.connectors.files.sink import NO_MARKER, files_of_rows
from streamproof.connectors.sink import Sink, SinkPlace
from streamproof.core.clock import from_micros, monotonic_seconds
from streamproof.core.ids import new_id
from streamproof.core.manifest import Chain, Digest, LedgerEntry, Manifest, Parked, Section, StagedFile, first_unknown
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import SinkUnavailable, StagedRowsGone
from streamproof.runtime.contradictions import (
    accepted_as_in_ledger,
    accepted_as_published,
    already_staged,
    contradiction,
    in_part,
    may_be_visible,
    needed_to_decide,
    other_manifest,
    require_same,
    taken_away,
)
from streamproof.runtime.doors import EXPANDED, PARKED, require_every_copy
from streamproof.runtime.events import BatchCommitted, BatchPlanned, BatchStaged, QueryEvents, WatermarkLeapt
from streamproof.runtime.idle import IdleSources
from streamproof.runtime.leaps import Leaps
from streamproof.runtime.logs import BatchLogs, QueryLogs
from streamproof.runtime.losses import Losses
from streamproof.runtime.manifests import ManifestStore
from streamproof.runtime.parking import Parking
from streamproof.runtime.places import seen_from
from streamproof.runtime.published import chain_before
from streamproof.runtime.publishing import Publisher
from streamproof.runtime.quiet import QuietSources
from streamproof.runtime.reports import DoorSums, sums_by_output
from streamproof.runtime.tally import tallied, tally_door
from streamproof.stream.identity import MadeBy
from streamproof.stream.outputs import SideKind
from streamproof.stream.recipe import Recipe

if TYPE_CHECKING:
    from streamproof._jvm import Doors, Storage

_PART = re.compile(r"part-(\d+)-")
"""How Spark names the file that a task writes, by its partition."""
WRITTEN_COPIES = "duplicate.written"
"""Under what a manifest counts the duplicates that are rows of an output."""
_DIGEST_KEYS = ("input", "expanded", "emitted", "late", "rejected", "duplicate", "filtered")


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
    reasons of rejection.
    """

    batches: int = 0
    without_input: int = 0
    input: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, manifest: Manifest) -> None:
        self.batches += 1
        self.without_input += not manifest.counts["input"]
        self.input += manifest.counts["input"]
        self.rows.update({section.output: section.digest.rows for section in manifest.sections})
        begins = "reason.rejected."
        self.reasons.update({key.removeprefix(begins): n for key, n in manifest.counts.items() if key.startswith(begins)})


class RunEnds(Exception):
    """Raised instead of beginning a batch, when the run was asked to end."""


@dataclass
class BatchProtocol:
    """Called by Spark once per batch, in the thread of the query; one object per query and start."""

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
    sides: Mapping[SideKind, str]
    columns: Mapping[str, StructType]
    floats: Mapping[str, float]
    recipe: Recipe
    whole_files: Sequence[str]
    events: QueryEvents
    leaps: Leaps
    quiet: QuietSources
    idle: IdleSources
    losses: Losses
    parking: Parking | None = None
    steps: Mapping[str, float] = field(default_factory=dict)
    accept_replay: int | None = None
    ending: bool = False
    failure: Exception | None = None
    done: Done = field(default_factory=Done)
    _doors_checked: bool = False
    _up_to_date: set[str] = field(default_factory=set)
    """The outputs whose ledger knows nothing of a batch of this start."""
    _uncommitted: BatchCommitted | None = None
    """What is said of the newest batch once Spark has committed it."""
    _committing: threading.RLock = field(default_factory=threading.RLock)

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
        planned = monotonic_seconds()
        attempt = f"{batch:06d}-{self.identity.run}"
        logs = self.logs.of(batch)
        files = sum(len(read) for read in logs.fingerprint.files.values())
        self.events.emit(BatchPlanned(self.identity.query, batch, _instant(logs.fingerprint.watermark_ms), files))
        self.logs.require_inputs(logs, batch, whole=self.whole_files)
        staged = self._manifest(batch, attempt, logs, *self._stage(rows, batch, attempt, logs))
        manifest = self._decide(staged)
        standing = monotonic_seconds()
        counts = {key: manifest.counts.get(key, 0) for key in _DIGEST_KEYS}
        written = {section.output: section.digest.rows for section in manifest.sections}
        replayed = manifest is not staged
        self.events.emit(BatchStaged(self.identity.query, batch, counts, written, replayed, standing - planned))
        try:
            self.publisher.publish(manifest)
        except StagedRowsGone as gone:
            if manifest is not staged or gone.batch not in (None, batch):  # of an earlier batch that still waits
                raise
            raise taken_away(gone, batch) from gone
        self.losses.written_down(batch)
        if batch:
            self.publisher.drop_published(batch - 1)
        self.manifests.prune(batch, self.publisher.open_batches)
        if self.parking is not None:
            self.parking.prune(batch)
        self.done.add(manifest)
        self.quiet.saw(batch, logs)
        self.idle.saw(logs, rows)
        leap = self.leaps.saw(batch, logs, manifest.counts[SideKind.LATE])
        if leap is not None:
            self.events.emit(WatermarkLeapt(leap.query, leap.batch, leap.before, leap.after))
        seconds = {"stage": standing - planned, "publish": monotonic_seconds() - standing}
        self._uncommitted = BatchCommitted(self.identity.query, batch, counts, written, seconds)

    def look_for_commit(self) -> None:
        """Emits that the newest batch is committed, as soon as Spark's commit log says so; the run asks now and then, from its own thread."""
        newest = self._uncommitted
        if newest is not None and self.logs.committed(newest.batch):
            self._is_committed(newest)

    def _is_committed(self, event: BatchCommitted | None) -> None:
        """Emits it, unless the other thread has."""
        with self._committing:
            if event is not None and event is self._uncommitted:
                self._uncommitted = None
                self.events.emit(event)

    def finish(self, patience_seconds: float, asked_to_end: Callable[[], bool] = bool) -> None:
        """At the end of a run: waits for stores that are down, unless it is asked to end, and removes what is staged of batches that are done.

        Raises
        ------
        SinkUnavailable
            If batches still wait when the patience is at its end; the next run publishes them.
        """
        self.look_for_commit()
        if not self.publisher.finish(patience_seconds, asked_to_end):
            return
        for number in self.logs.batches("commits")[-2:]:
            self.publisher.drop_published(number)

    # -- stage

    def _stage(
        self, rows: _jvm.BatchRows, batch: int, attempt: str, logs: BatchLogs
    ) -> tuple[tuple[Section, ...], dict[str, int], tuple[Parked, ...]]:
        output = self.identity.query
        place = self._place(output)
        directory = f"_staging/{attempt}"
        staged = f"{place.staged_in}/{directory}"
        if self.storage.exists(staged):
            raise already_staged(staged, batch)
        rows.write(place.format, staged, {**write_options(place.format), **NO_MARKER})
        sums = sums_by_output(self.doors.drain(batch))
        metrics = rows.sums()
        if not self._doors_checked:
            _jvm.check_doors(metrics)
            self._doors_checked = metrics.get("input", 0) > 0  # without input the optimiser leaves the doors out
        main = sums.get(tally_door(output), DoorSums())
        digest, files, parked = main.digest(self.floats), self._files_of_main(staged, main), tuple[Parked, ...]()
        if not digest.rows:
            self.storage.delete(staged)
        if self.parking is not None:
            parked, on_time = self._park(batch, attempt, logs, sums.get(PARKED, DoorSums()), staged)
            digest, files = digest + on_time.digest(self.floats), (*files, *self._files_of_main(staged, on_time, files))
        sections = self._sections(output, "main", directory, files, digest)
        counts = {
            "input": metrics.get("input", 0),
            "expanded": sums.get(EXPANDED, DoorSums()).rows,
            "emitted": digest.records if self.recipe.aggregate is not None else digest.rows,
            "duplicate": metrics.get("duplicate", 0),
            "filtered": sum(found.rows for name, found in sums.items() if name.startswith("filtered.")),
            WRITTEN_COPIES: 0,
        }
        if self.recipe.ordered is not None:
            counts["duplicate"] = digest.records - digest.rows
        for kind in SideKind:
            found = sums.get(str(kind), DoorSums())
            if kind is SideKind.DUPLICATE and kind not in self.sides:
                continue
            if kind is SideKind.DUPLICATE:
                counts[WRITTEN_COPIES] = found.rows
                require_every_copy(self.sides[kind], batch, dropped=counts["duplicate"], written=found.rows)
            counts[str(kind)] = found.rows
            counts.update({f"reason.{kind}.{reason}": count for reason, count in found.reasons.items()})
            if kind in self.sides:
                sections += self._side_sections(kind, found, attempt)
        counts.update({name: found.rows for name, found in sums.items() if name.startswith("filtered.")})
        return tuple(sections), counts, parked

    def _files_of_main(self, staged: str, sums: DoorSums, known: Sequence[StagedFile] = ()) -> tuple[StagedFile, ...]:
        """The files that were just written, beside the known ones; where a sink publishes by shards, with what the rows of each sum up to."""
        names = {file.name for file in known}
        files = tuple(file for file in files_of_rows(self.storage, staged) if file.name not in names) if sums.rows else ()
        if any(self.sinks[name].shards > 1 for name in self.targets[self.identity.query]):
            return tuple(replace(file, digest=self._digest_of(file, sums)) for file in files)
        return files

    def _park(self, batch: int, attempt: str, logs: BatchLogs, aside: DoorSums, staged: str) -> tuple[tuple[Parked, ...], DoorSums]:
        """What waits once the batch has put its own rows aside; and the sums of what is on time by now, which it has staged."""
        assert self.parking is not None, "the rows of this query do not wait"
        before, now = logs.watermark_before_ms, logs.fingerprint.watermark_ms
        waiting = (*self.parking.before(batch), *self.parking.put_aside(batch, attempt, aside))
        due = self.parking.due(waiting, before, now)
        parked = (*waiting, *self.parking.folded(waiting, batch, attempt, now))
        if due is None:
            return parked, DoorSums()
        output, place = self.identity.query, self._place(self.identity.query)
        summed = tallied(due, self.doors, output, stateful=True, steps=self.steps).rows
        typed = summed if place.shared else self.sinks[place.output].encoded(summed)
        options = {**write_options(place.format), **NO_MARKER}
        typed.write.format(SPARK_NAME[place.format]).options(**options).mode("append").save(staged)
        return parked, sums_by_output(self.doors.drain(batch)).get(tally_door(output), DoorSums())

    def _side_sections(self, kind: SideKind, found: DoorSums, attempt: str) -> list[Section]:
        output = self.sides[kind]
        place, directory = self._place(output), f"_staging/{attempt}"
        files = tuple(sorted(found.files, key=lambda file: file.name))
        if found.rows and place.format != "json":
            raw = [f"{self.manifests.side_directory(output)}/{attempt}/{file.name}" for file in files]
            rows = self.spark.read.schema(self.columns[output]).json(raw)
            typed = rows if place.shared else self.sinks[place.output].encoded(rows)
            typed.write.format(SPARK_NAME[place.format]).options(**write_options(place.format), **NO_MARKER).save(
                f"{place.staged_in}/{directory}"
            )
            files = files_of_rows(self.storage, f"{place.staged_in}/{directory}")
        return self._sections(output, str(kind), directory, files, found.digest())

    def _place(self, output: str) -> SinkPlace:
        """Where the rows of an output are staged: several sinks of one have it in common."""
        return self.sinks[self.targets[output][0]].place

    def _sections(self, output: str, kind: str, directory: str, files: tuple[StagedFile, ...], digest: Digest) -> list[Section]:
        """A section for each sink of an output, all of the same staged rows; no more shards than there are files."""
        return [
            Section(name, kind, directory, files, digest, min(self.sinks[name].shards, len(files) or 1))
            for name in self.targets[output]
        ]

    def _digest_of(self, file: StagedFile, sums: DoorSums) -> Digest | None:
        """What the rows of a file sum up to, by the task that wrote it."""
        named = _PART.match(file.name)
        return None if named is None else sums.by_partition.get(int(named[1]), DoorSums()).digest(self.floats)

    def _manifest(
        self,
        batch: int,
        attempt: str,
        logs: BatchLogs,
        sections: tuple[Section, ...],
        counts: dict[str, int],
        parked: tuple[Parked, ...],
    ) -> Manifest:
        before = self._before(batch)
        totals = {
            f"total.{key}": counts.get(key, 0) + (before.counts.get(f"total.{key}", 0) if before else 0)
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
            sections=tuple(replace(section, earlier=self._earlier(section.output, before, batch)) for section in sections),
            counts={**counts, **totals},
            places={output: seen_from(self.manifests.checkpoint, sink.place.where) for output, sink in self.sinks.items()},
            connectors={output: sink.place.connector for output, sink in self.sinks.items()},
            topics=self.identity.topics,
            made_by=self.identity.made_by,
            version=__version__,
            unknown_since=_unknown_since(before, batch),
            parked=parked,
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

    # -- decide

    def _decide(self, staged: Manifest) -> Manifest:
        """The manifest that counts: the one that is there if this attempt equals it, else this attempt's (R4)."""
        known = self.manifests.read(staged.batch)
        if known is None and (again := self._from_ledger(staged)) is not None:
            return again
        if known is not None:
            differences = _differences(known, staged)
            if not differences:
                return self._standing(known, staged)
            if self._is_begun(known):
                if self.accept_replay != staged.batch or known.fingerprint.hash != staged.fingerprint.hash:
                    other_input = known.fingerprint.hash != staged.fingerprint.hash
                    raise contradiction(known, differences, other_input=other_input)
                self.events.note(accepted_as_published(known, differences))
                stands = self._standing(known, staged)
                self.manifests.mark_unknown(staged.batch)
                return stands
            self.manifests.discard(staged.batch)
            self._drop_attempt(known)
        if not self.manifests.create(staged):
            raise other_manifest(staged)
        return staged

    def _standing(self, known: Manifest, staged: Manifest) -> Manifest:
        """The known manifest, with its rows, or with those of this attempt where they are gone."""
        if not self._rows_left(known):
            return self._staged_again(known, staged)
        self._drop_attempt(staged)
        return known

    def _from_ledger(self, staged: Manifest) -> Manifest | None:
        """A manifest that was lost after its batch was published is made again from the ledger, if the batch is the same (R2)."""
        published: dict[str, Sequence[LedgerEntry]] = {}
        for section in staged.sections:
            found = self._ledger_of(section, staged.batch)
            if found:
                published[section.output] = found
        if not published:
            return None
        accepted = self.accept_replay == staged.batch
        sections, whole, unknown = [], set(), staged.unknown_since
        for section in staged.sections:
            entries = published.get(section.output, ())
            if entries:
                if not require_same(staged, section, entries[0], accepted=accepted):
                    self.events.note(accepted_as_in_ledger(staged, section, entries[0]))
                    unknown = first_unknown(unknown, staged.batch)
                section = replace(section, earlier=entries[0].earlier or section.earlier)  # what was published vouches for itself
                if self.sinks[section.output].torn(staged.batch, None) is not None:
                    self.sinks[section.output].take_back(staged.batch)  # equal rows are staged, and published under the same id
                    sections.append(replace(section, shards=entries[0].shards))
                    continue
                section = replace(section, shards=entries[0].shards)
                if len(entries) >= entries[0].shards:
                    whole.add(section.output)
                elif not accepted:
                    raise in_part(staged, section, len(entries), "its manifest is lost")
                else:
                    unknown = first_unknown(unknown, staged.batch)
            sections.append(section)
        again = replace(staged, id=next(iter(published.values()))[0].manifest, sections=tuple(sections), unknown_since=unknown)
        if not self.manifests.create(again):
            raise other_manifest(staged)
        self._drop_unneeded(again, [section for section in again.sections if section.output in whole], whole)
        return again

    def _ledger_of(self, section: Section, batch: int) -> Sequence[LedgerEntry]:
        """What a ledger says of a batch without a manifest.

        A store is asked from its first batch on until it knows nothing of one: those behind it, which are published in order, are new.
        One that is down is not asked; an entry of another manifest is then met when the batch is published there.
        """
        sink = self.sinks[section.output]
        if sink.may_lag and (section.output in self._up_to_date or self.publisher.pauses(section.output)):
            return ()
        found: Sequence[LedgerEntry] = ()
        with suppress(SinkUnavailable):
            found = sink.entries(batch)
            if not found and section.digest.rows:
                self._up_to_date.add(section.output)
        return found

    def _rows_left(self, known: Manifest) -> bool:
        """Whether every section is published whole, or its staged rows are still whole: a power failure may have taken them."""
        if self.parking is not None and not self.parking.has(known):
            return False
        return all(self.sinks[section.output].staged_whole(section) or self._is_whole(known, section) for section in known.sections)

    def _staged_again(self, known: Manifest, staged: Manifest) -> Manifest:
        """The known manifest, with this attempt's rows for what is not published whole: its id stays, since ledgers hold it (R7).

        The rows are equal, unless somebody has accepted that they are not. A part that is published stands: this attempt's files must hold
        the others as the former ones did.
        """
        sections: list[Section] = []
        dropped: list[Section] = []
        whole: set[str] = set()
        unknown = first_unknown(known.unknown_since, staged.unknown_since)
        for section in known.sections:
            sink, mine = self.sinks[section.output], staged.section(section.output)
            if mine is None or self._is_whole(known, section):
                dropped += [] if mine is None else [mine]
                sections.append(section)
                whole.add(section.output)
                continue
            parts = len(sink.entries(known.batch)) if section.digest.rows else 0
            if parts:
                mine = replace(mine, shards=section.shards)
                if not mine.splits_like(section) and section.shards > 1:
                    if self.accept_replay != known.batch:
                        raise in_part(
                            known, section, parts, "the rows that are missing were staged and are gone, and now lie in other files"
                        )
                    unknown = first_unknown(unknown, known.batch)
            dropped.append(section)
            sections.append(mine)
        again = replace(staged, id=known.id, sections=tuple(sections), unknown_since=unknown)
        self._drop_unneeded(again, dropped, whole)
        self.manifests.discard(staged.batch)
        if not self.manifests.create(again):
            raise other_manifest(staged)
        return again

    def _drop_unneeded(self, manifest: Manifest, dropped: Sequence[Section], whole: Collection[str]) -> None:
        """Removes staged rows, unless another sink of the same output still publishes them."""
        needed = {self._directory_of(section) for section in manifest.sections if section.output not in whole}
        for section in dropped:
            if section.digest.rows and self._directory_of(section) not in needed:
                self.sinks[section.output].abort(section.directory)

    def _directory_of(self, section: Section) -> str:
        return f"{self.sinks[section.output].place.staged_in}/{section.directory}"

    def _is_whole(self, known: Manifest, section: Section) -> bool:
        sink = self.sinks[section.output]
        return bool(section.digest.rows) and sink.published(known.batch) is not None and sink.complete(known, section)

    def _is_begun(self, known: Manifest) -> bool:
        with needed_to_decide(known):
            return may_be_visible(known, self.sinks)

    def _drop_attempt(self, staged: Manifest) -> None:
        if self.parking is not None:
            self.parking.drop_attempt(staged.attempt)
        for section in staged.sections:
            if section.digest.rows:
                self.sinks[section.output].abort(section.directory)


def _instant(milliseconds: int) -> datetime | None:
    """The instant of a watermark; None where there is none yet, or it lies beyond the year 9999."""
    with suppress(OverflowError, ValueError):
        return from_micros(milliseconds * 1000) if milliseconds > 0 else None
    return None


def _unknown_since(before: Manifest | None, batch: int) -> int | None:
    """Since when the account is unknown of a batch that goes on from the manifest `before`: with one between them lost, it leaves that out."""
    follows = before.batch + 1 if before is not None else 0
    return first_unknown(before.unknown_since if before is not None else None, follows if follows < batch else None)


def _differences(known: Manifest, staged: Manifest) -> list[str]:
    found = []
    if known.fingerprint.hash != staged.fingerprint.hash:
        found.append("it reads other input or has another watermark")
    for section in known.sections:
        mine = staged.section(section.output)
        if mine is None or not mine.digest.agrees_with(section.digest):
            found.append(f"output {section.output}: {_said(section.digest)} before, {_said(mine.digest if mine else Digest())} now")
    if known.put_aside != staged.put_aside:
        before, now = (sum(ends.values()) for ends in (known.put_aside, staged.put_aside))
        found.append(f"rows that wait until their window is on time: {before} before, {now} now, or of other windows")
    return found


def _said(digest: Digest) -> str:
    return f"{digest.rows} rows with hash sum {digest.hash:x}"


def merged_schema(shapes: Sequence[StructType]) -> StructType:
    """One schema for side rows of several doors: columns by name; where types differ, string."""
    types: dict[str, DataType] = {}
    for shape in shapes:
        for column in shape.fields:
            known = types.setdefault(column.name, column.dataType)
            if known != column.dataType:
                types[column.name] = StringType()
    return StructType([StructField(name, type_) for name, type_ in types.items()])
