"""Backups of a checkpoint in a store. A point is its list, which is written last; without it there is no point.

PLACE/files/SHA256                               the bytes of files, of points and of the versions of tables; the same bytes are sent once
PLACE/plans/42.json                              the manifest of batch 42, word for word, and which versions of tables it names
PLACE/points/20261128T233500Z-batch-41.json      which files the checkpoint had after batch 41
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

from streamproof.checkpoint.folder import SOURCES, STATE, read_text
from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.own import FOLDER
from streamproof.errors import CheckpointError, ConfigurationError, UnknownFormat
from streamproof.savepoints.copying import MANIFESTS
from streamproof.savepoints.place import Amount, Place, nothing_in
from streamproof.savepoints.points import (
    PLANS,
    TABLES,
    Point,
    fingerprint_in,
    identity_of,
    logs_of,
    name_of,
    needless,
    only_one,
    point_named,
    require_one_checkpoint,
)
from streamproof.savepoints.records import Kept, PlanRecord, PointList, sha256_of
from streamproof.savepoints.store import Store

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R", PointList, PlanRecord)

FILES, POINTS, JSON = "files", "points", ".json"
_SIDE_BY_SIDE = 8
_SHOWN = 3


class InStore(Place):
    """Backups in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._verified: set[str] = set()
        """By SHA-256, files that were read back."""

    @property
    def where(self) -> str:
        return self._store.uri

    @property
    def works_in(self) -> Path:
        return Path(tempfile.gettempdir()) / f"streamproof-{os.geteuid()}" / hashlib.sha256(self.where.encode()).hexdigest()[:16]

    def points(self) -> list[Point]:
        names = (name.removesuffix(JSON) for name in self._store.list(POINTS))
        found = (point_named(name, self._address(name)) for name in names)
        return sorted((point for point in found if point is not None), key=lambda point: (point.at, point.batch))

    def point(self, at: datetime, batch: int) -> Point:
        return Point(self._address(name_of(at, batch)), at, batch)

    def require_fit(self, checkpoint: Path) -> None:
        others = sorted(self._store.list().keys() - {FILES, PLANS, POINTS})
        if others:
            raise ConfigurationError(
                f"{self.where} has {', '.join(others[:_SHOWN])}{' and more' if len(others) > _SHOWN else ''}, which are no backups.",
                required="Backups of one checkpoint go to a prefix of their own.",
                remedy="Name another one.",
            )
        newest = next((one for point in reversed(self.points()) if (one := self._list(point)) is not None), None)
        require_one_checkpoint(self.where, checkpoint, newest.checkpoint if newest is not None else "")

    @contextmanager
    def writing(self) -> Iterator[None]:
        work = self.works_in
        _make_private(work.parent)
        with only_one(work, self.where):
            for left in (path for path in work.iterdir() if path.is_dir()):  # by a process that was ended
                shutil.rmtree(left)
            yield

    @contextmanager
    def making(self, point: Point) -> Iterator[Path]:
        made = self.works_in / point.name
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def put(self, made: Path, point: Point) -> Amount:
        listed = PointList.of(made, identity_of(made))
        for one in self.points():  # a list is written once its files were read back
            if (before := self._list(one)) is not None:
                self._verified |= {kept.sha256 for kept in before.files.values()}
        sent = self._send({kept: made / name for name, kept in listed.files.items()})
        self._write(f"{POINTS}/{point.name}{JSON}", listed.to_json())
        return sent

    def holds(self, point: Point, found: Inspection, batch: int) -> bool:
        listed = self._list(point)
        if listed is None or point.batch != batch:
            return False
        there = {name: sha256_of(found.path / name) for name in logs_of(batch) if (found.path / name).is_file()}
        kept = {name: listed.files[name].sha256 for name in logs_of(batch) if name in listed.files}
        return there == kept and not self._missing(listed.files.values())

    def size(self, point: Point) -> Amount:
        listed = self._list(point)
        return Amount(0, 0) if listed is None else Amount(len(listed.files), listed.bytes)

    def kept(self, point: Point) -> frozenset[str]:
        listed = self._list(point)
        parts = (name.split("/") for name in (listed.files if listed is not None else ()))
        return frozenset(f"{part[0]}/{part[1]}" for part in parts if part[0] in (SOURCES, STATE) and part[1].isdigit())

    def keep_plan(self, checkpoint: Path, batch: int) -> bool:
        text = read_text(checkpoint / FOLDER / MANIFESTS / str(batch))
        if text is None:
            return False
        name = f"{PLANS}/{batch}{JSON}"
        before = self._record(name, PlanRecord.from_json)
        if before is not None and before.manifest == text:
            return False
        mine, theirs = fingerprint_in(text), fingerprint_in(before.manifest if before is not None else None)
        tables = checkpoint / FOLDER / TABLES
        versions = [tables / table / version for table, version in (mine.tables if mine is not None else {}).items()]
        files = {path.relative_to(tables).as_posix(): path for one in versions for path in sorted(one.rglob("*")) if path.is_file()}
        kept = {relative: Kept.of(path) for relative, path in files.items()}
        if kept:
            self._send({one: files[relative] for relative, one in kept.items()})
        if theirs is not None and theirs != mine:
            _each(self._store.remove, [f"{PLANS}/{number}{JSON}" for number in self._planned() if number > batch])
        self._write(name, PlanRecord(text, kept).to_json())
        return True

    def remove_older(self, keep: int) -> Sequence[Point]:
        listed = {point: self._list(point) for point in self.points()}
        whole = [point for point, one in listed.items() if one is not None]
        gone = whole[: max(0, len(whole) - keep)]
        stay = whole[len(gone) :]
        for point in listed:
            if point not in stay:
                self._store.remove(f"{POINTS}/{point.name}{JSON}")
        plans = self._planned()
        without = needless(plans, stay)
        _each(self._store.remove, [f"{PLANS}/{number}{JSON}" for number in without])
        needed = {kept.sha256 for point in stay if (one := listed[point]) is not None for kept in one.files.values()}
        for plan in self._plans(sorted(set(plans) - set(without))).values():
            needed |= {kept.sha256 for kept in plan.files.values()}
        _each(self._store.remove, [f"{FILES}/{name}" for name in self._store.list(FILES) if name not in needed])
        return gone

    def fetch(self, point: Point, to: Path) -> None:
        listed = self._list(point)
        if listed is None:
            raise _damaged("its list is cut short, or gone.")
        missing = self._missing(listed.files.values())
        lost = [name for name, kept in listed.files.items() if kept in missing]
        if lost:
            more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
            raise _damaged(
                f"{', '.join(lost[:_SHOWN])}{more} of it {'is' if len(lost) == 1 else 'are'} gone from the store, or cut short.",
            )
        for folder in listed.folders:
            (to / folder).mkdir(parents=True, exist_ok=True)
        self._fetch_all(listed.files, to)

    def plans(self, scratch: Path) -> Path:
        folder = scratch / PLANS
        folder.mkdir(parents=True, exist_ok=True)
        for number, plan in self._plans(self._planned()).items():
            try:
                self._fetch_all(plan.files, folder / TABLES)
            except CheckpointError:
                continue  # without its tables a batch is not done as planned, nor are those after it
            (folder / str(number)).write_text(plan.manifest, encoding="utf-8")
        return folder

    def end(self) -> None:
        self._store.end()

    def nothing(self) -> ConfigurationError:
        folders = sorted(name for name, size in self._store.list().items() if size < 0)
        below = [f"{self.where}/{name}" for name in folders if POINTS in self._store.list(name)]
        return nothing_in(self.where, below, there=True)

    def _send(self, files: Mapping[Kept, Path]) -> Amount:
        """Sends what the store lacks of some files, reads it back, and looks whether all are there; how much was sent."""
        missing = self._missing(files)
        unsure = {kept.sha256: (kept, path) for kept, path in files.items() if kept in missing or kept.sha256 not in self._verified}
        sent = _each(lambda one: self._send_one(*one, there=one[0] not in missing), list(unsure.values()))
        if self._missing(files):
            raise CheckpointError(
                f"{self.where} lacks files that were sent to it just now.",
                required="Nothing else removes what is in it.",
                remedy="Run this again; one process at a time may write there.",
            )
        return Amount(sum(size is not None for size in sent), sum(size or 0 for size in sent))

    def _send_one(self, kept: Kept, path: Path, *, there: bool) -> int | None:
        """Sends a file and reads it back; one that is there and was never verified is read back first. Its bytes, None where it was not sent."""
        name = f"{FILES}/{kept.sha256}"
        sent = None
        if not there or self._sha256(name) != kept.sha256:
            self._store.write(name, path)
            sent = kept.bytes
            if self._sha256(name) != kept.sha256:
                self._store.remove(name)
                raise CheckpointError(
                    f"{self.where}/{name} is not what was sent.",
                    required="A backup counts once it was read back and verified. Former ones are as they were.",
                    remedy="Run this again. If it stays so, look at that store, and at what lies between.",
                )
        self._verified.add(kept.sha256)
        return sent

    def _sha256(self, name: str) -> str | None:
        digest = hashlib.sha256()
        try:
            for piece in self._store.read(name):
                digest.update(piece)
        except (FileNotFoundError, CheckpointError):
            return None
        return digest.hexdigest()

    def _write(self, name: str, text: str) -> None:
        self._store.write(name, text.encode())
        if self._sha256(name) != sha256_of(text.encode()):
            self._store.remove(name)
            raise CheckpointError(f"{self.where}/{name} is not what was written.", remedy="Run this again.")

    def _missing(self, files: Iterable[Kept]) -> set[Kept]:
        """Of some files those that the store lacks, or has with another size."""
        there = self._store.list(FILES)
        return {kept for kept in files if there.get(kept.sha256) != kept.bytes}

    def _fetch_all(self, files: Mapping[str, Kept], to: Path) -> None:
        _each(lambda name: self._fetch_one(name, files[name], to), list(files))

    def _fetch_one(self, name: str, kept: Kept, to: Path) -> None:
        target = to / name
        if to not in target.parents or ".." in target.parts:
            raise _damaged(f"it names {name}, which is no file of a checkpoint.")
        target.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        try:
            with target.open("wb") as file:
                for piece in self._store.read(f"{FILES}/{kept.sha256}"):
                    file.write(piece)
                    digest.update(piece)
        except FileNotFoundError:
            raise _damaged(f"{name} of it is gone from the store.") from None
        except CheckpointError:
            raise _damaged(f"{name} of it is not what was sent, by the store's own checksum.") from None
        if digest.hexdigest() != kept.sha256:
            raise _damaged(f"{name} of it is not what was sent: SHA-256 {digest.hexdigest()[:12]}…, must be {kept.sha256[:12]}….")
        os.utime(target, ns=(kept.modified, kept.modified))

    def _address(self, name: str) -> str:
        return f"{self.where}/{POINTS}/{name}{JSON}"

    def _list(self, point: Point) -> PointList | None:
        return self._record(f"{POINTS}/{point.name}{JSON}", PointList.from_json)

    def _planned(self) -> list[int]:
        names = (name.removesuffix(JSON) for name in self._store.list(PLANS))
        return sorted(int(name) for name in names if name.isdigit())

    def _plans(self, numbers: Sequence[int]) -> dict[int, PlanRecord]:
        """The plans of batches; torn ones are left aside."""
        found = _each(lambda number: self._record(f"{PLANS}/{number}{JSON}", PlanRecord.from_json), numbers)
        return {number: plan for number, plan in zip(numbers, found, strict=True) if plan is not None}

    def _record(self, name: str, read: Callable[..., R]) -> R | None:
        """A list or a plan; None where it is not there, or is torn."""
        where = f"{self.where}/{name}"
        try:
            return read(b"".join(self._store.read(name)).decode(), where=where)
        except UnknownFormat:
            raise
        except (FileNotFoundError, CheckpointError, ValueError):
            return None


def _damaged(what: str) -> CheckpointError:
    """Whoever catches it knows of which point it is."""
    return CheckpointError(what, required="A backup that was made is whole; the store has lost or changed something of it since.")


def _each(do: Callable[[T], S], values: Iterable[T]) -> list[S]:
    """Does it with each, a few side by side; the first error ends it. No more than these few are waited for when the process ends."""
    found: list[S] = []
    left = iter(values)
    with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="backup") as pool:
        while few := list(islice(left, _SIDE_BY_SIDE)):
            found += pool.map(do, few)
    return found


def _make_private(folder: Path) -> None:
    """Makes a folder that its owner alone may read: a copy of a checkpoint lies in it, with what rows have."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid() or seen.st_mode & 0o077:
        raise ConfigurationError(
            f"{folder} is another user's, or others may read it.",
            required="A backup is made there before it is sent.",
            remedy="Remove it, or name another folder for temporary files in TMPDIR.",
        )
