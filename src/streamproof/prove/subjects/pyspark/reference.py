"""The fault-free run over the same batches (R24): what a recovered run is held against, made once for each way to cut the input."""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamproof.core.ids import new_id, short
from streamproof.prove.process.machine import MachineDid
from streamproof.prove.process.task import ChildResult
from streamproof.prove.record.binding import CHECKPOINT
from streamproof.prove.subjects.pyspark.reading import Batch, Left
from streamproof.prove.subjects.subject import Run, Subject

NO_DATA_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"
CUT = "streamproof.cut"
"""The setting of a run whose batches are given: as JSON, by query and source ("sessions.0"), how many files each batch takes ("2,2,6")."""
Batches = Mapping[str, Sequence[Batch]]
"""By query the batches of a run."""
Mark = tuple[int, tuple[int, ...]]
"""Of a batch the watermark in ms, and how many files it reads of each source."""
_NEXT_WATERMARK = re.compile(r'("nextBatchWatermarkMs"\s*:\s*)-?\d+')


@dataclass(frozen=True)
class Cut:
    """How the queries of a job take their input.

    Parameters
    ----------
    queries
        By query and batch, how many files each source gives.
    ends
        Whether batches without data follow, which close what the watermark has passed.
    restarted
        Before which batch the run is stopped and started again; None for never. What Spark remembers of several watermarks depends on it (R13).
    held
        The query whose watermark stands still in the batch before that one, and the watermark in ms; None where it moves on by itself.
    """

    queries: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]
    ends: bool
    restarted: int | None = None
    held: tuple[str, int] | None = None

    @property
    def longest(self) -> int:
        return max((len(batches) for _, batches in self.queries), default=0)

    def setting(self, first: int, last: int | None) -> str:
        """The value of the setting for a run over the batches from `first` up to `last`, which is not among them."""
        return json.dumps(
            {
                f"{query}.{source}": ",".join(str(files[source]) for files in batches[first:last])
                for query, batches in self.queries
                if batches[first:last]
                for source in range(len(batches[0]))
            }
        )


class NoReference(Exception):
    """There is no fault-free run over the same batches; the text says why."""


def cut_of(batches: Batches) -> Cut:
    """The cut of a run.

    Raises
    ------
    NoReference
        If a batch without data lies between others: no other run can be made to have one there.
    """
    queries, ends = [], False
    for name, its in batches.items():
        data = [batch for batch in its if batch.has_data]
        if list(its[: len(data)]) != data:
            raise NoReference("a batch without data lies between others")
        queries.append((name, tuple(tuple(len(files) for files in batch.files.values()) for batch in data)))
        ends = ends or len(its) > len(data)
    return Cut(tuple(queries), ends)


@dataclass
class References:
    """The fault-free runs of a proof, by their cut: over the same files, in the same batches, in places like those of every scenario."""

    subject: Subject
    """Whose places they are in."""
    read: Callable[[Path], Left]
    run: Run | None = None
    runs: int = 0
    _known: dict[Cut, Left | str] = field(default_factory=dict)
    _life: str = field(default_factory=lambda: short(new_id()))

    def over(self, batches: Batches, query: str | None) -> Left:
        """The fault-free run whose batches read the same files with the same watermarks: those of one query, or of all of them.

        Raises
        ------
        NoReference
            If there is none.
        """
        cut = cut_of(batches)
        wanted = _marks(batches, query)
        found = []
        for tried in (cut, *(replace(cut, restarted=batch) for batch in range(1, cut.longest))):
            left = self._of(tried)
            found.append(_marks(left.batches, query))
            if found[-1] == wanted:
                return left
        for name, marks in wanted.items():
            batch = _stood_still(marks, found[0].get(name, ()))
            if batch is not None:
                left = self._of(replace(cut, restarted=batch, held=(name, marks[batch][0])))
                if _marks(left.batches, query) == wanted:
                    return left
        raise NoReference(
            f"its batches (watermark, files of each source) are {wanted}, those of a run without a fault are {found[0]}"
        )

    def _of(self, cut: Cut) -> Left:
        known = self._known.get(cut)
        if known is None:
            try:
                known = self._made(cut)
            except NoReference as problem:
                known = str(problem)
            self._known[cut] = known
        if isinstance(known, str):
            raise NoReference(known)
        return known

    def _made(self, cut: Cut) -> Left:
        for last in (False, False, True):
            try:
                return self._run_once(cut)
            except MachineDid:
                if last:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _run_once(self, cut: Cut) -> Left:
        assert self.run is not None, "it is given before the first scenario is judged"
        self.runs += 1
        name = f"reference-{self._life}-{self.runs}"
        binding = self.subject.binding(name).in_one_batch()
        disk = binding.folder
        try:
            self.subject.open_places(name)
            if cut.restarted is not None:
                settings = {NO_DATA_BATCHES: "false", CUT: cut.setting(0, cut.restarted)}
                self._finished(self.run(f"{name}-first", binding, settings))
                if cut.held is not None:
                    _hold(disk / CHECKPOINT / cut.held[0] / "commits" / str(cut.restarted - 1), cut.held[1])
            settings = {NO_DATA_BATCHES: str(cut.ends).lower(), CUT: cut.setting(cut.restarted or 0, None)}
            self._finished(self.run(name, binding, settings))
            return self.read(disk)
        finally:
            with suppress(Exception):  # what cannot be removed goes with the services
                self.subject.close_places(name)
            shutil.rmtree(disk, ignore_errors=True)

    @staticmethod
    def _finished(result: ChildResult) -> None:
        if result.code:
            raise NoReference(f"a run without a fault over the same batches stopped: {result.message}")


def _marks(batches: Batches, query: str | None) -> dict[str, list[Mark]]:
    """By query the watermark of each batch and how many files it reads of each source."""
    return {
        name: [(batch.watermark_ms, tuple(map(len, batch.files.values()))) for batch in its]
        for name, its in batches.items()
        if query in (None, name)
    }


def _stood_still(wanted: Sequence[Mark], free: Sequence[Mark]) -> int | None:
    """The batch whose watermark is that of the batch before, where it moves on without a fault; None where that is not the first difference.

    A sink that finds a batch in its own log does not run it again, and Spark then learns nothing of the times in it: its watermark moves on a
    batch later. That is how Spark recovers, and no mistake of the job's.
    """
    batch = next((number for number, (one, other) in enumerate(zip(wanted, free, strict=False)) if one != other), 0)
    return batch if batch and wanted[batch][0] == wanted[batch - 1][0] and wanted[batch][1] == free[batch][1] else None


def _hold(commit: Path, watermark_ms: int) -> None:
    """Writes into the commit of a batch the watermark that the next one begins with."""
    if commit.is_file():
        commit.write_text(_NEXT_WATERMARK.sub(rf"\g<1>{watermark_ms}", commit.read_text()))
        commit.with_name(f".{commit.name}.crc").unlink(missing_ok=True)
