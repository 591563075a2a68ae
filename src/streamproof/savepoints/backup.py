"""`streamproof backup`: a verified copy of the newest sound point of a checkpoint in a second place, of a job that is stopped or runs.

A point has no name of its own until it is whole: it is written as `NAME.partial`, read back, verified, and renamed. Only then are older ones removed.
"""

import errno
import filecmp
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from streamproof.checkpoint.folder import COMMITS, METADATA, OFFSETS, list_names
from streamproof.checkpoint.inspection import WRITTEN_MEANWHILE, Inspection, ids_of, inspect_checkpoint, stores_of
from streamproof.checkpoint.own import FOLDER
from streamproof.checkpoint.stores import StateFile, Store
from streamproof.checkpoint.verify.sound import Verified, verify
from streamproof.core.clock import now_utc
from streamproof.errors import CheckpointError, ConfigurationError, DiskFull, StreamproofError
from streamproof.savepoints.copying import MANIFESTS, Copy, done_again, sync
from streamproof.savepoints.points import PARTIAL, Point, keep_plan, name_of, only_one, points_in, remove_older, require_fit

_ATTEMPTS = 5
"""So often a checkpoint is copied anew that was written meanwhile: Spark removes old files, and a batch may end while it is looked at."""
_PARKED, _SIDE = f"{FOLDER}/parked/", f"{FOLDER}/side/"


@dataclass(frozen=True)
class BackedUp:
    """A backup that was made, or was there already.

    Parameters
    ----------
    point
        Where it is.
    made
        Whether it was made now; else the newest point is as the checkpoint is.
    batch, newest
        It is as the checkpoint was after this batch; the newest batch that the checkpoint has committed.
    behind
        What is damaged, in sentences, where that is why it is of an older batch.
    files, bytes
        What it has.
    copied_files, copied_bytes
        What was written of that; all else is a hard link to the point before.
    plans
        How many plans of later batches were put beside it.
    removed
        The older points that are gone now.
    """

    point: Point
    made: bool
    batch: int
    newest: int
    behind: tuple[str, ...]
    files: int
    bytes: int
    copied_files: int
    copied_bytes: int
    plans: int
    removed: tuple[Point, ...] = ()


def back_up(checkpoint: str | Path, to: Path, *, keep: int = 3, say: Callable[[str], None] = lambda _: None) -> BackedUp:
    """Copies the newest sound point of a checkpoint to a folder, reads it back, verifies it, and keeps the newest `keep`.

    Raises
    ------
    ConfigurationError
        If there is no checkpoint, no batch of it is sound, or the folder is no place for its backups.
    CheckpointError
        If the copy is not sound, several times: the checkpoint was changed while it was copied.
    DiskFull
        If the disk is full; what was written is taken away again, and former backups stay.
    """
    found = _inspected(checkpoint)
    require_fit(to, found.path)
    try:
        with only_one(to):
            for name in list_names(to):
                if name.endswith(PARTIAL):  # left by a process that was ended
                    shutil.rmtree(to / name)
            return _back_up(found, to, keep, say)
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"{to} cannot be written: the disk is full.",
                required="The first backup takes as much as the newest state of the checkpoint, each later one what has changed since. "
                "What was written of this one is gone again; former backups are as they were.",
                remedy="Make room, or keep fewer with --keep, and run this again.",
            ) from None
        where = problem.filename or to
        raise ConfigurationError(
            f"{where} cannot be written or read: {problem.strerror or problem}.",
            required="A backup needs the right to read the checkpoint and to write to its own folder. Former backups are as they were.",
            remedy="Give this user that right, or name another folder.",
        ) from None


def _inspected(checkpoint: str | Path) -> Inspection:
    """What is in a checkpoint, looked at again while a driver writes there: parts of what was seen would be of different batches."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(FileNotFoundError):
            found = inspect_checkpoint(checkpoint)
            if WRITTEN_MEANWHILE not in found.notes:
                return found
    return inspect_checkpoint(checkpoint)


def _back_up(found: Inspection, to: Path, keep: int, say: Callable[[str], None]) -> BackedUp:
    problem: CheckpointError | FileNotFoundError | None = None
    for attempt in range(_ATTEMPTS):
        if attempt:
            found = _inspected(found.path)
        say("verifying the checkpoint")
        seen = verify(found)
        batch = _newest_sound(found, seen)
        former = next(reversed(points_in(to)), None)
        try:
            if former is not None and _is_of(found, former, batch) and damage_of_point(former.path, batch) is None:
                return _there_already(found, seen, to, former, batch, keep)
            return _point(found, seen, to, former, batch, keep, say)
        except (CheckpointError, FileNotFoundError) as changed:
            problem = changed
    assert problem is not None, "each attempt but a sound one has a problem"
    raise problem


def _newest_sound(found: Inspection, seen: Verified) -> int:
    """The newest batch that a start goes on after."""
    if seen.sound:
        return seen.sound[-1]
    if not found.logs.committed and not seen.problems:
        raise ConfigurationError(
            f"{found.path} has no batch that is committed.",
            required="There is something to back up once the first batch is done.",
            remedy="Start the job, and run this again later.",
        )
    raise ConfigurationError(
        f"{found.path} has no sound point: {seen.problems[0].says if seen.problems else 'no batch has all that a start needs.'}",
        required="A backup is a copy that a start can go on from. Nothing was copied, and former backups are as they were.",
        remedy=f"streamproof inspect {found.path} --verify says what is damaged; streamproof restore puts a former backup in its place.",
    )


def _behind(found: Inspection, seen: Verified, batch: int) -> tuple[str, ...]:
    newest = found.logs.newest_committed
    return () if newest is None or batch >= newest else tuple(dict.fromkeys(problem.says for problem in seen.problems))


def _is_of(found: Inspection, point: Point, batch: int) -> bool:
    """Whether a point is as the checkpoint is after a batch: by the plan, the commit, and the manifest of that batch."""
    logs = (METADATA, f"{OFFSETS}/{batch}", f"{COMMITS}/{batch}", f"{FOLDER}/{MANIFESTS}/{batch}")
    return point.batch == batch and all(
        (found.path / name).exists() == (point.path / name).exists()
        and (not (point.path / name).exists() or filecmp.cmp(found.path / name, point.path / name, shallow=False))
        for name in logs
    )


def _there_already(found: Inspection, seen: Verified, to: Path, point: Point, batch: int, keep: int) -> BackedUp:
    plans = _keep_plans(found, to, batch)
    return BackedUp(
        point,
        False,
        batch,
        _newest(found, batch),
        _behind(found, seen, batch),
        *_size(point.path),
        0,
        0,
        plans,
        tuple(remove_older(to, keep)),
    )


def _point(
    found: Inspection, seen: Verified, to: Path, former: Point | None, batch: int, keep: int, say: Callable[[str], None]
) -> BackedUp:
    at = now_utc()
    while (to / name_of(at, batch)).exists() or (former is not None and at <= former.at):
        at = max(at, former.at if former is not None else at) + timedelta(seconds=1)
    target = to / name_of(at, batch)
    partial = target.with_name(target.name + PARTIAL)
    copy = _Point(
        found,
        found.path.absolute(),
        partial,
        batch,
        done_again(found, seen, batch),
        former=None if former is None else former.path,
        harmed=frozenset(problem.path for problem in seen.problems),
        say=say,
    )
    try:
        copy.make()
        say("verifying the copy")
        _require_sound_copy(partial, batch)
        sync(partial)
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    plans = _keep_plans(found, to, batch)
    made = Point(target, at.replace(microsecond=0), batch)
    removed = tuple(remove_older(to, keep))
    return BackedUp(
        made,
        True,
        batch,
        _newest(found, batch),
        _behind(found, seen, batch),
        *_size(target),
        copy.written.files,
        copy.written.bytes,
        plans,
        removed,
    )


def _newest(found: Inspection, batch: int) -> int:
    newest = found.logs.newest_committed
    return batch if newest is None else newest


def _keep_plans(found: Inspection, to: Path, batch: int) -> int:
    """Puts the plans of the batches after the point beside it, as far as there are any."""
    numbers = [int(name) for name in list_names(found.path / FOLDER / MANIFESTS) if name.isdigit()]
    return sum(keep_plan(found.path, to, number) for number in sorted(numbers) if number > batch)


def damage_of_point(copy: Path, batch: int) -> str | None:
    """Why a start does not go on from a point, as a sentence; None if it does."""
    try:
        seen = verify(inspect_checkpoint(copy))
    except StreamproofError as problem:
        return problem.message
    if batch in seen.sound and (seen.is_sound or seen.goes_on):
        return None
    return next((problem.says for problem in seen.problems), "its newest batch cannot be gone on from.")


def _require_sound_copy(copy: Path, batch: int) -> None:
    what = damage_of_point(copy, batch)
    if what is None:
        return
    raise CheckpointError(
        f"The backup {copy} is not sound: {what}",
        required="A backup counts once it was read back and verified. Former ones are as they were.",
        remedy="Run this again; a checkpoint that runs may have been changed several times while it was copied. If it stays so, look at that disk.",
    )


def _size(folder: Path) -> tuple[int, int]:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return len(sizes), sum(sizes)


@dataclass
class _Written:
    files: int = 0
    bytes: int = 0
    looked_at: int = 0


@dataclass(frozen=True)
class _Point(Copy):
    """A copy with what a start needs and no more: the newest state, and the one before, which `run --replay-last` takes.

    Parameters
    ----------
    former
        The point before: a file that it has with the same bytes is linked.
    harmed
        Files of the checkpoint that are damaged, and stay away.
    """

    former: Path | None = None
    harmed: frozenset[str] = frozenset()
    say: Callable[[str], None] = lambda _: None
    written: _Written = field(default_factory=_Written)

    def wants(self, name: str) -> bool:
        return name not in self.harmed

    def put(self, source: Path, target: Path) -> None:
        self.written.looked_at += 1
        self.say(f"file {self.written.looked_at}")
        former = None if self.former is None else self.former / target.relative_to(self.to)
        if former is not None and former.is_file() and filecmp.cmp(source, former, shallow=False):
            try:
                os.link(former, target)
                return
            except OSError as problem:  # such a disk has no hard links, or no more of this file
                if problem.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise
        super().put(source, target)
        self.written.files += 1
        self.written.bytes += target.stat().st_size

    def files_of(self, store: Store) -> Sequence[StateFile]:
        operator = next(one for one in self.found.operators if one.number == store.operator)
        ids = ids_of(self.found.logs, store, stores_of(operator, store.partition))
        newest, before = store.needed(self.batch + 1, ids), store.needed(self.batch, ids)
        files = {file.path: file for file in (*newest.files, *(() if before.missing else before.files))}
        return [file for file in files.values() if str(file.path.relative_to(self.found.path)) not in self.harmed]

    def ahead(self) -> Sequence[int]:
        return ()  # they lie beside the points, and grow with each batch

    def own(self) -> Iterator[str]:
        """What a job of ours keeps, without rows of attempts that do not count."""
        own = self.found.own
        attempts = {
            one.attempt
            for number in (self.batch - 1, self.batch, self.planned)
            for manifest in ((own.manifests.get(number),) if own is not None else ())
            if manifest is not None
            for one in manifest.parked
        }
        for name in super().own():
            parked = name.removeprefix(_PARKED).partition("/")[0] if name.startswith(_PARKED) else None
            if name.startswith(_SIDE) or (parked is not None and parked not in attempts) or self._is_unfinished(name):
                continue
            yield name

    @staticmethod
    def _is_unfinished(name: str) -> bool:
        return name.startswith(f"{FOLDER}/tables/") and "/_staging/" in name
