"""What a start needs of a checkpoint, copied to another folder: whole files, each read back."""

import filecmp
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamproof.checkpoint.batches import read_to
from streamproof.checkpoint.folder import COMMITS, METADATA, OFFSETS, SOURCES, STATE, list_names
from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.logs import COMPACT, compact_interval, log_number, source_log_text
from streamproof.checkpoint.own import AHEAD, FOLDER
from streamproof.checkpoint.stores import StateFile, Store, tables_of
from streamproof.checkpoint.verify.finding import Harm
from streamproof.checkpoint.verify.sound import Verified
from streamproof.errors import CheckpointError

MANIFESTS, PINNED = "manifests", "tables/_pinned"


def done_again(found: Inspection, seen: Verified, batch: int) -> int | None:
    """The next batch, where its plan is whole, with all that it names: a start does it again over the same input, as it would after a crash."""
    following = found.after(batch)
    harmed = any(
        problem.batches is None or following in problem.batches
        for problem in seen.problems
        if not problem.path.startswith((STATE, COMMITS))
    )
    return following if following in found.logs.planned and not harmed else None


def harmed_files(seen: Verified) -> frozenset[str]:
    """The files that are damaged, and stay away from a copy.

    An offset log that was swapped comes along: it can be read, and the next batch does not start without it.
    """
    return frozenset(one.path for one in seen.problems if one.harm is not Harm.SWAPPED or not one.path.startswith(OFFSETS))


@dataclass(frozen=True)
class Copy:
    """What is copied of a checkpoint, so that a start goes on after `batch`.

    Parameters
    ----------
    again
        The batch after it, if its plan comes along.
    harmed
        Files of the checkpoint that are damaged, and stay away.
    """

    found: Inspection
    source: Path
    to: Path
    batch: int
    again: int | None
    harmed: frozenset[str] = frozenset()

    @property
    def planned(self) -> int:
        """The newest batch that is planned in the copy."""
        return self.batch if self.again is None else self.again

    def make(self) -> None:
        self._take(METADATA)
        for kind, newest in ((OFFSETS, self.planned), (COMMITS, self.batch)):
            (self.to / kind).mkdir(parents=True, exist_ok=True)
            for name in list_names(self.source / kind):
                if name.isdigit() and int(name) <= newest and self.wants(f"{kind}/{name}"):
                    self._take(f"{kind}/{name}")
        for name in sorted({*list_names(self.source / SOURCES), *self._read_sources()}):
            self._take_source(name)
        for operator in list_names(self.source / STATE):
            self._take_operator(f"{STATE}/{operator}")
        for store in (store for operator in self.found.operators for store in operator.stores):
            self._take_store(store)
        for name in self.own():
            if self.wants(name):
                self._take(name)
        for number in self.ahead():
            self._take(f"{FOLDER}/{MANIFESTS}/{number}", f"{FOLDER}/{AHEAD}/{number}")

    def wants(self, name: str) -> bool:
        """Whether a file of a log comes along; its path is relative to the checkpoint."""
        return name not in self.harmed

    def put(self, source: Path, target: Path) -> None:
        """Puts one file into the copy, with its time."""
        shutil.copy2(source, target)

    def files_of(self, store: Store) -> Sequence[StateFile]:
        """The files of a store that come along."""
        return self.whole([file for file in store.files if file.version <= self.batch + 1])

    def whole(self, files: Iterable[StateFile]) -> list[StateFile]:
        """Of some files of the state those that are not damaged, nor a table file that they name."""
        return [file for file in files if not self.harmed & self.named(file)] if self.harmed else list(files)

    def named(self, file: StateFile) -> set[str]:
        """A file of the state, and the table files that it names, by their paths."""
        paths = (file.path, *(file.path.parent / "SSTs" / table for table in tables_of(file)))
        return {str(path.relative_to(self.found.path)) for path in paths}

    def ahead(self) -> Sequence[int]:
        """The batches after those that are planned in the copy whose plans come along, so that they are done again as they were planned."""
        known = self.found.own.manifests if self.found.own is not None else {}
        number = self.planned + 1
        while number in known:
            number += 1
        return range(self.planned + 1, number)

    def _take(self, name: str, to: str = "") -> None:
        """Copies a file with its time and with the sums beside it, and reads it back; to another name, if one is given."""
        source, target = self.source / name, self.to / (to or name)
        target.parent.mkdir(parents=True, exist_ok=True)
        sums = (source.with_name(f".{source.name}.crc"), source.with_name(f"{source.name}.crc"))
        for path in (source, *(one for one in sums if one.is_file())):
            copied = target.with_name(path.name)
            try:
                self.put(path, copied)
                same = filecmp.cmp(path, copied, shallow=False)
            except FileNotFoundError:
                same = False
            if not same:
                raise CheckpointError(
                    f"{path} was {'changed' if path.exists() else 'removed'} while it was copied.",
                    required="Nothing may write to a checkpoint that is copied.",
                    remedy="Stop the job, and run this again.",
                )

    def _read_sources(self) -> Iterator[str]:
        """The file sources of which something is read: their logs must be there."""
        for number, source in enumerate(self.found.logs.planned[self.planned].sources):
            if read_to(source).positions.get("log", -1) >= 0:
                yield str(self.found.logs.folder(number))

    def _take_source(self, name: str) -> None:
        """The log of a source up to what is read; entries that only a later compact file still has are written anew, as Spark writes them.

        Raises
        ------
        CheckpointError
            If no file names an entry: with an empty one Spark would read its files once more.
        """
        folder = self.source / SOURCES / name
        entries = self.found.logs.files.get(int(name)) if name.isdigit() else None
        if entries is None and name not in self._read_sources():  # of Kafka: where it began
            for path in self._below(folder):
                self._take(path)
            return
        entries = entries or {}
        end = self._end(int(name))
        there = [one for one in list_names(folder) if self.wants(f"{SOURCES}/{name}/{one}")]
        begins = _begins([number for one in there if one.endswith(COMPACT) and (number := log_number(one)) is not None], end)
        for number in range(max(begins, 0), end + 1):
            compact = number == begins
            called = f"{number}{COMPACT}" if compact else str(number)
            if called in there:
                self._take(f"{SOURCES}/{name}/{called}")
                continue
            named = range(0 if compact else number, number + 1)
            if not all(entries.get(entry) for entry in named):
                raise _unknown(folder / called)
            files = [file for entry in named for file in entries[entry]]
            written = self.to / SOURCES / name / called
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(source_log_text(files), encoding="utf-8")
        (self.to / SOURCES / name).mkdir(parents=True, exist_ok=True)

    def _end(self, source: int) -> int:
        return self.found.logs.planned[self.planned].log_offset(self.found.logs.source(source))

    def _take_operator(self, operator: str) -> None:
        """The metadata of an operator and of its stores, word for word: paths in it stay those of the checkpoint whose place the copy takes."""
        for path in self._below(self.source / operator):
            inside = Path(path).relative_to(operator).parts
            if "_metadata" not in inside and "_stateSchema" not in inside:
                continue
            if inside[:2] == ("_metadata", "v2") and inside[2].isdigit() and int(inside[2]) > self.planned:
                continue
            self._take(path)

    def _take_store(self, store: Store) -> None:
        folder = store.folder.relative_to(self.found.path)
        tables: set[str] = set()
        (self.to / folder).mkdir(parents=True, exist_ok=True)
        for file in self.files_of(store):
            self._take(str(folder / file.path.name))
            tables |= tables_of(file).keys()
        for table in sorted(tables & store.tables.keys()):
            self._take(str(folder / "SSTs" / table))

    def own(self) -> Iterator[str]:
        """What a job of ours keeps; of batches that are not planned in the copy it keeps neither manifest nor fixed versions of tables."""
        for path in self._below(self.source / FOLDER):
            folder, _, name = path.removeprefix(f"{FOLDER}/").rpartition("/")
            if folder in (MANIFESTS, PINNED) and name.isdigit() and int(name) > self.planned:
                continue
            yield path

    def _below(self, folder: Path) -> Iterator[str]:
        """The files below a folder, relative to the checkpoint, without the sums that go with them."""
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and not path.name.startswith(".") and not path.name.endswith(".crc"):
                yield str(path.relative_to(self.source))


def _unknown(path: Path) -> CheckpointError:
    return CheckpointError(
        f"{path} is not there, and no other file names all that it has named.",
        required="A copy has every entry of the log of a file source: a start would read the files that are not named once more.",
        remedy="Bring it back from a backup. streamproof inspect CHECKPOINT --verify says what else is damaged.",
    )


def _begins(compact: Sequence[int], end: int) -> int:
    """The compact file of a source's log that Spark begins to read at, up to an entry; -1 where it needs none.

    Where those before the entry are gone, Spark looks for one at each multiple of its interval.
    """
    before = [number for number in compact if number <= end]
    if before:
        return max(before)
    interval = compact_interval(compact)
    return (end + 1) // interval * interval - 1


def sync(folder: Path) -> None:
    """Has the disk hold what was written, before it gets its name."""
    for path in (*folder.rglob("*"), folder):
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
