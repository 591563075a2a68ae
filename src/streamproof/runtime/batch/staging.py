"""The rows of a batch, staged where no reader sees them, with what they add up to (PROTOCOL R3, R5)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StringType, StructField, StructType

from streamproof import _jvm
from streamproof.connectors.files.formats import SPARK_NAME, write_options
from streamproof.connectors.files.sink import NO_MARKER, files_of_rows
from streamproof.connectors.sink import SinkPlace
from streamproof.core.manifest import Digest, Parked, Section, StagedFile
from streamproof.core.phases import Phase
from streamproof.core.sides import LATE, REJECTED, Side
from streamproof.runtime.batch.contradictions import already_staged
from streamproof.runtime.batch.held import GoneOn, told_by_state
from streamproof.runtime.batch.started import StartedQuery
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.rows.columns import Columns
from streamproof.runtime.rows.doors import AFTER, AGES, EXPANDED, KEYS, PARKED, require_every_copy
from streamproof.runtime.rows.parking import Parking
from streamproof.runtime.rows.reports import DoorSums, sums_by_output
from streamproof.runtime.rows.tally import tallied, tally_door
from streamproof.runtime.rows.waiting import Waiting
from streamproof.runtime.watching.hot_keys import Counted
from streamproof.runtime.watching.latency import Aged, Since
from streamproof.runtime.watching.measures import Stopwatch

if TYPE_CHECKING:
    from streamproof._jvm import Doors, Storage

_PART = re.compile(r"part-(\d+)-")
"""How Spark names the file that a task writes, by its partition."""
WRITTEN_COPIES = "duplicate.written"
"""Under what a manifest counts the duplicates that are rows of an output."""
REASON = "reason"
"""Under what it counts why rows have left: "reason.SIDE.WHY"."""


@dataclass(frozen=True)
class Staged:
    """What an attempt has staged: a section for each sink, how many records went where, and the rows that wait.

    Beside that, by operator what was counted by key, and by source how old its records were.
    """

    sections: tuple[Section, ...]
    counts: Mapping[str, int]
    parked: tuple[Parked, ...]
    by_key: Mapping[str, Counted] = field(default_factory=dict)
    aged: Mapping[tuple[Since, str], Aged] = field(default_factory=dict)


@dataclass
class Staging:
    """Stages the batches of one query.

    Parameters
    ----------
    doors
        The JVM's side of what leaves the plan by the way.
    columns
        What the rows have.
    parking
        Where rows wait; None where none have to.
    """

    query: StartedQuery
    doors: "Doors"
    columns: Columns
    parking: Parking | None = None
    _doors_checked: bool = field(init=False, default=False)
    _waiting: Waiting | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.parking is not None and self.columns.parked is not None:
            self._waiting = Waiting(self.query.spark, self.doors, self.parking, self.columns.parked, self._finished)

    @property
    def storage(self) -> "Storage":
        return self.query.journal.storage

    def stage(self, rows: _jvm.BatchRows, batch: int, attempt: str, logs: BatchLogs, watch: Stopwatch) -> Staged:
        """Computes the rows, once, and writes them; side rows have left inside the tasks.

        Raises
        ------
        StreamproofError
            If another driver has staged this attempt, or rows went where they may not.
        """
        output = self.query.name
        place = self.query.sinks.place(output)
        directory = f"_staging/{attempt}"
        staged = f"{place.staged_in}/{directory}"
        if self.storage.exists(staged):
            raise already_staged(staged, batch)
        watch.enter(Phase.WORK)
        rows.write(place.format, staged, {**write_options(place.format), **NO_MARKER})
        watch.enter(Phase.STAGE)
        sums = sums_by_output(self.doors.drain(batch))
        metrics = rows.sums()
        if not self._doors_checked:
            _jvm.check_doors(metrics)
            self._doors_checked = metrics.get("input", 0) > 0  # without input the optimiser leaves the doors out
        main = sums.get(tally_door(output), DoorSums())
        digest, files, parked = main.digest(self.columns.floats), self._files_of_main(staged, main), tuple[Parked, ...]()
        if not digest.rows:
            self.storage.delete(staged)
        if self.parking is not None:
            assert self._waiting is not None, "the columns of rows that wait are known where they do"
            parked, on_time = self._park(self.parking, self._waiting, batch, attempt, logs, sums.get(PARKED, DoorSums()), staged)
            digest, files = digest + on_time.digest(self.columns.floats), (*files, *self._files_of_main(staged, on_time, files))
        sections = self._sections(output, "main", directory, files, digest)
        of_sides, counts = self._accounted(batch, attempt, sums, metrics, digest)
        return Staged((*sections, *of_sides), counts, parked, _by_key(sums), _aged(sums))

    def written_by_spark(self, batch: int, attempt: str, records: int) -> Staged:
        """The same for a batch whose rows Spark has written to their topic itself; `records` is how many the batch has read.

        The section of the main output has no rows: nothing of it is to be published, by this trigger or by another one later.
        """
        sums = sums_by_output(self.doors.drain(batch))
        digest = sums.get(tally_door(self.query.name), DoorSums()).digest(self.columns.floats)
        sections = self._sections(self.query.name, "main", f"_staging/{attempt}", (), Digest())
        of_sides, counts = self._accounted(batch, attempt, sums, {"input": records}, digest)
        return Staged((*sections, *of_sides), counts, ())

    def _accounted(
        self, batch: int, attempt: str, sums: Mapping[str, DoorSums], metrics: Mapping[str, int], digest: Digest
    ) -> tuple[list[Section], dict[str, int]]:
        """The sections of the side outputs, which this stages, and how many records went where.

        Parameters
        ----------
        sums
            What the tasks have reported, by door.
        metrics
            What Spark has counted: "input", "duplicate".
        digest
            Of the rows of the main output.
        """
        sections: list[Section] = []
        sides = self.query.sinks.sides
        counts = {
            "input": metrics.get("input", 0),
            "expanded": sums.get(EXPANDED, DoorSums()).rows,
            "duplicate": metrics.get("duplicate", 0),
            **self.query.root.counted(rows=digest.rows, records=digest.records),
            "filtered": sum(found.rows for name, found in sums.items() if name.startswith("filtered.")),
            WRITTEN_COPIES: 0,
        }
        of_kind = Counter[str]()  # by the place of the account, where it has one of that name
        counted = (LATE, REJECTED, *self.query.root.sides)  # a manifest counts late and rejected rows of every query
        for side in dict.fromkeys(counted):
            found = sums.get(str(side), DoorSums())
            if side.if_returned and side not in sides and str(side) not in sums:
                continue  # no door counts its records, as of duplicates, which Spark counts itself
            if side.counted_by_spark:
                counts[WRITTEN_COPIES] = found.rows
                require_every_copy(sides[side], batch, dropped=counts[side.kind], written=found.rows)
            of_kind[side.kind] += found.rows
            counts[side.kind] = of_kind[side.kind]
            if side.name:
                counts[str(side)] = found.rows
            counts.update({f"{REASON}.{side}.{reason}": count for reason, count in found.reasons.items()})
            if side in sides:
                sections += self._side_sections(side, found, attempt)
        counts.update({name: found.rows for name, found in sums.items() if name.startswith("filtered.")})
        went = {name.removeprefix(AFTER): GoneOn(one.rows, one.records) for name, one in sums.items() if name.startswith(AFTER)}
        measured = {**metrics, "met": metrics.get("met", 0)}
        counts.update(told_by_state(self.query.root, counts, measured, went, rows=digest.rows, records=digest.records))
        if self.query.root.passes_on:
            counts[WRITTEN_COPIES] = counts["duplicate"] if counts[WRITTEN_COPIES] else 0  # all of them, or none: see above
        return sections, counts

    def _files_of_main(self, staged: str, sums: DoorSums, known: Sequence[StagedFile] = ()) -> tuple[StagedFile, ...]:
        """The files that were just written, beside the known ones; where a sink publishes by shards, with what the rows of each sum up to."""
        names = {file.name for file in known}
        files = tuple(file for file in files_of_rows(self.storage, staged) if file.name not in names) if sums.rows else ()
        sinks = self.query.sinks
        if any(sinks.by_name[name].shards > 1 for name in sinks.targets[sinks.main]):
            return tuple(replace(file, digest=self._digest_of(file, sums)) for file in files)
        return files

    def _park(
        self, parking: Parking, reader: Waiting, batch: int, attempt: str, logs: BatchLogs, aside: DoorSums, staged: str
    ) -> tuple[tuple[Parked, ...], DoorSums]:
        """What waits once the batch has put its own rows aside; and the sums of what is on time by now, which it has staged."""
        before, now, sums = logs.watermark_before_ms, logs.fingerprint.watermark_ms, dict[str, DoorSums]()
        waiting = (*parking.before(batch), *parking.put_aside(batch, attempt, aside))
        due = reader.due(waiting, before, now)
        if due is not None:
            form = self.query.sinks.place(self.query.name).format
            _jvm.write_rows(due.rows, form, staged, {**write_options(form), **NO_MARKER})
            sums = reader.sums_of(due, batch)
        parked = (*waiting, *reader.folded(waiting, batch, attempt, now))
        return parked, sums.get(tally_door(self.query.name), DoorSums())

    def _finished(self, due: DataFrame) -> DataFrame:
        """Rows that have waited, summed, as the sink of the main output has them."""
        summed = tallied(due, self.doors, self.query.name, sums=True, steps=self.columns.steps).rows
        return self._encoded(summed, self.query.sinks.place(self.query.name))

    def _side_sections(self, side: Side, found: DoorSums, attempt: str) -> list[Section]:
        output = self.query.sinks.sides[side]
        place, directory = self.query.sinks.place(output), f"_staging/{attempt}"
        files = tuple(sorted(found.files, key=lambda file: file.name))
        if found.rows and place.format != "json":
            raw = [f"{self.query.journal.manifests.side_directory(output)}/{attempt}/{file.name}" for file in files]
            rows = _jvm.rows_of_named(self.query.spark, "json", raw, columns=self.columns.of_outputs[output])
            self._encoded(rows, place).write.format(SPARK_NAME[place.format]).options(
                **write_options(place.format), **NO_MARKER
            ).save(f"{place.staged_in}/{directory}")
            files = files_of_rows(self.storage, f"{place.staged_in}/{directory}")
        return self._sections(output, str(side), directory, files, found.digest())

    def _encoded(self, rows: DataFrame, place: SinkPlace) -> DataFrame:
        """Rows as they are staged at a place: several sinks encode them once they have them."""
        return rows if place.shared else self.query.sinks.by_name[place.output].encoded(rows)

    def _sections(self, output: str, kind: str, directory: str, files: tuple[StagedFile, ...], digest: Digest) -> list[Section]:
        """A section for each sink of an output, all of the same staged rows; no more shards than there are files."""
        return [
            Section(name, kind, directory, files, digest, min(self.query.sinks.by_name[name].shards, len(files) or 1))
            for name in self.query.sinks.targets[output]
        ]

    def _digest_of(self, file: StagedFile, sums: DoorSums) -> Digest | None:
        """What the rows of a file sum up to, by the task that wrote it."""
        named = _PART.match(file.name)
        return None if named is None else sums.by_partition.get(int(named[1]), DoorSums()).digest(self.columns.floats)


def _by_key(sums: Mapping[str, DoorSums]) -> dict[str, Counted]:
    """By operator what the tasks have counted by key."""
    counted = {name.partition("."): found for name, found in sums.items()}
    return {operator: Counted(found.records, found.reasons) for (kind, _, operator), found in counted.items() if kind == KEYS}


def _aged(sums: Mapping[str, DoorSums]) -> dict[tuple[Since, str], Aged]:
    """By since when and by source what the tasks have counted by age."""
    doors = {tuple(name.split(".", 2)): found for name, found in sums.items() if name.startswith(f"{AGES}.")}
    return {
        (Since(since), source): Aged(found.records, {int(age): count for age, count in found.reasons.items()})
        for (_, since, source), found in doors.items()
    }


def merged_schema(shapes: Sequence[StructType]) -> StructType:
    """One schema for side rows of several doors: columns by name; where types differ, string."""
    types: dict[str, DataType] = {}
    for shape in shapes:
        for column in shape.fields:
            known = types.setdefault(column.name, column.dataType)
            if known != column.dataType:
                types[column.name] = StringType()
    return StructType([StructField(name, type_) for name, type_ in types.items()])
