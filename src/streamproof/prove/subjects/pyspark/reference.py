"""The fault-free run over the same batches (R24): what a recovered run is held against, made once for each way to cut the input."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamproof.core.ids import new_id, short
from streamproof.prove.process.child import ChildResult
from streamproof.prove.subjects.binding import ScenarioBinding
from streamproof.prove.subjects.pyspark.reading import Batch, Left
from streamproof.prove.subjects.subject import Run

NO_DATA_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"
WriteGroup = Callable[[str, Sequence[str], Path, int], None]
"""Writes the events of some files of an input as one file: the input, the files, the folder, its number."""


@dataclass(frozen=True)
class Cut:
    """How the input is cut into batches, and what follows the last one.

    Parameters
    ----------
    groups
        By batch and input the files.
    ends
        Whether batches without data follow, which close what the watermark has passed.
    restarted
        Before which batch the run is stopped and started again; None for never. What Spark remembers of several watermarks depends on it (R13).
    """

    groups: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]
    ends: bool
    restarted: int | None = None


def cut_of(batches: Sequence[Batch]) -> Cut | None:
    """The cut of a run; None where a batch without data lies between others, which no other run can be made to have."""
    data = [batch for batch in batches if batch.has_data]
    if list(batches[: len(data)]) != data:
        return None
    groups = tuple(tuple(sorted(batch.files.items())) for batch in data)
    return Cut(groups, ends=len(batches) > len(data))


class NoReference(Exception):
    """There is no fault-free run over the same batches; the text says why."""


@dataclass
class References:
    """The fault-free runs of a proof, by their cut."""

    folder: Path
    inputs: Sequence[str]
    write: WriteGroup
    read: Callable[[Path], Left]
    run: Run | None = None
    runs: int = 0
    _known: dict[Cut, Left | str] = field(default_factory=dict)
    _life: str = field(default_factory=lambda: short(new_id()))

    def over(self, batches: Sequence[Batch]) -> Left:
        """The fault-free run whose batches read the same files, with the same watermarks.

        Raises
        ------
        NoReference
            If there is none.
        """
        cut = cut_of(batches)
        if cut is None:
            raise NoReference("a batch without data lies between others")
        wanted = [batch.watermark_ms for batch in batches]
        found: list[list[int]] = []
        for restarted in (None, *(range(1, len(cut.groups)) if len(self.inputs) > 1 else ())):
            left = self._of(replace(cut, restarted=restarted))
            for its in left.batches.values():
                found.append([batch.watermark_ms for batch in its])
                if found[-1] == wanted:
                    return left
        raise NoReference(f"its watermarks are {wanted}, those of a run without a fault over the same files are {found[0]}")

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
        assert self.run is not None, "it is given before the first scenario is judged"
        self.runs += 1
        name = f"reference-{self._life}-{self.runs}"
        events, disk = self.folder / "references" / name, self.folder / "disks" / name
        binding = ScenarioBinding(str(disk), disk, {one: str(events / one) for one in self.inputs}, 1)
        try:
            if cut.restarted is not None:
                self._write(cut, events, range(cut.restarted))
                self._finished(self.run(f"{name}-first", binding, {NO_DATA_BATCHES: "false"}))
            self._write(cut, events, range(cut.restarted or 0, len(cut.groups)))
            self._finished(self.run(name, binding, {NO_DATA_BATCHES: str(cut.ends).lower()}))
            return self.read(disk)
        finally:
            shutil.rmtree(events, ignore_errors=True)
            shutil.rmtree(disk, ignore_errors=True)

    def _write(self, cut: Cut, events: Path, groups: range) -> None:
        for number in groups:
            files = dict(cut.groups[number])
            for one in self.inputs:
                self.write(one, files.get(one, ()), events, number)

    @staticmethod
    def _finished(result: ChildResult) -> None:
        if result.code:
            raise NoReference(f"a run without a fault over the same batches stopped: {result.message}")


def in_order_of_spark(files: Sequence[str], folder: Path) -> list[str]:
    """The order in which the tasks of a batch take its files, the largest first: with one file a batch, rows keep this order."""
    return sorted(files, key=lambda name: -(folder / name).stat().st_size)


def stamped(path: Path, number: int) -> None:
    """Gives a file the modification time of its place: Spark takes files in that order."""
    moment = (1_767_225_600 + number) * 1_000_000_000
    os.utime(path, ns=(moment, moment))
