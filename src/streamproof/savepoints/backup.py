"""`streamproof backup`: a verified copy of the newest sound point of a checkpoint in a second place, of a job that is stopped or runs.

A point has no name of its own until it is whole: it is made in a folder beside, read back, verified, and renamed or sent. Only then are older ones removed.
"""

import errno
import filecmp
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from streamproof.checkpoint.folder import list_names
from streamproof.checkpoint.inspection import WRITTEN_MEANWHILE, Inspection, ids_of, inspect_checkpoint, stores_of, written_since
from streamproof.checkpoint.own import FOLDER
from streamproof.checkpoint.stores import StateFile, Store
from streamproof.checkpoint.verify.sound import Verified, verify
from streamproof.core.clock import now_utc
from streamproof.errors import CheckpointError, ConfigurationError, DiskFull
from streamproof.savepoints.copying import MANIFESTS, Copy, done_again, harmed_files
from streamproof.savepoints.damage import damage_of_point
from streamproof.savepoints.in_folder import InFolder
from streamproof.savepoints.place import Amount, Place
from streamproof.savepoints.points import Point, kept_in

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


def back_up(checkpoint: str | Path, to: Path | Place, *, keep: int = 3, say: Callable[[str], None] = lambda _: None) -> BackedUp:
    """Copies the newest sound point of a checkpoint to a folder or a store, reads it back, verifies it, and keeps the newest `keep`.

    Raises
    ------
    ConfigurationError
        If there is no checkpoint, no batch of it is sound, it is no place for its backups, or a store refuses.
    CheckpointError
        If the copy is not sound, or no point was to be found, several times: the checkpoint was changed meanwhile.
    DiskFull
        If the disk is full; what was written is taken away again, and former backups stay.
    StoreUnavailable
        If a store does not answer.
    """
    found = _inspected(checkpoint)
    place = to if isinstance(to, Place) else InFolder(to)
    place.require_fit(found.path)
    try:
        with place.writing():
            return _back_up(found, place, keep, say)
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"{place.works_in} cannot be written: the disk is full.",
                required="The first backup takes as much as the newest state of the checkpoint, each later one what has changed since. "
                "What was written of this one is gone again; former backups are as they were.",
                remedy="Make room, or keep fewer with --keep, and run this again.",
            ) from None
        where = problem.filename or place.works_in
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


def _back_up(found: Inspection, place: Place, keep: int, say: Callable[[str], None]) -> BackedUp:
    problem: CheckpointError | FileNotFoundError | None = None
    for attempt in range(_ATTEMPTS):
        try:
            if attempt:
                found = _inspected(found.path)
            say("verifying the checkpoint")
            seen = _verified(found)
            if not seen.sound:
                if not written_since(found):
                    raise _nothing_sound(found, seen)
                problem = _written_each_time(found, _nothing_sound(found, seen))
                continue
            batch = seen.sound[-1]
            if batch < _newest(found, batch) and attempt + 1 < _ATTEMPTS and written_since(found):
                continue  # what the job has removed meanwhile looks as if it were damaged
            former = next(reversed(place.points()), None)
            _require_kept(found, place, former)
            if former is not None and place.holds(former, found, batch):
                return _done(found, seen, place, former, None, keep)
            return _point(found, seen, place, former, batch, keep, say)
        except (CheckpointError, FileNotFoundError) as changed:
            problem = changed
    assert problem is not None, "each attempt but a sound one has a problem"
    raise problem


def _written_each_time(found: Inspection, problem: ConfigurationError) -> CheckpointError:
    return CheckpointError(
        f"{found.path} was written to each of the {_ATTEMPTS} times that it was verified, and had no sound point: {problem.message}",
        required="The state of the newest batch has to stay as long as it is verified and copied. Former backups are as they were.",
        remedy="Run this again. If it stays so, have Spark keep more batches (spark.sql.streaming.minBatchesToRetain), or stop the job first.",
    )


def _verified(found: Inspection) -> Verified:
    """What is wrong with the newest point and the one before, by the files that they need alone; of all points where the newest is not sound.

    A job goes on while its state is read: the less there is to read, the less of it Spark has removed by then.
    """
    newest = found.logs.newest_committed
    if newest is None:
        return verify(found)
    first = newest - 1
    for operator in found.operators:
        for store in operator.stores:
            ids = ids_of(found.logs, store, stores_of(operator, store.partition))
            # A commit names which file of a version counts, so those of the changes stay.
            first = min(
                (first, *(file.version - 1 for batch in (newest, newest - 1) for file in store.needed(batch + 1, ids).files))
            )
    committed = {number: commit for number, commit in found.logs.committed.items() if number >= first}
    seen = verify(replace(found, logs=replace(found.logs, committed=committed)))
    return seen if newest in seen.sound else verify(found)


def _nothing_sound(found: Inspection, seen: Verified) -> ConfigurationError:
    if not found.logs.committed and not seen.problems:
        return ConfigurationError(
            f"{found.path} has no batch that is committed.",
            required="There is something to back up once the first batch is done.",
            remedy="Start the job, and run this again later.",
        )
    return ConfigurationError(
        f"{found.path} has no sound point: {seen.problems[0].says if seen.problems else 'no batch has all that a start needs.'}",
        required="A backup is a copy that a start can go on from. Nothing was copied, and former backups are as they were.",
        remedy=f"streamproof inspect {found.path} --verify says what is damaged; streamproof restore puts a former backup in its place.",
    )


def _require_kept(found: Inspection, place: Place, former: Point | None) -> None:
    """ConfigurationError if the newest backup has an operator or a source that the checkpoint no longer has: no Spark removes one."""
    if former is None:
        return
    lost = sorted(place.kept(former) - kept_in(found.path))
    if lost:
        raise ConfigurationError(
            f"{found.path} has no {', '.join(lost)}, and the backup {former.name} has.",
            required="State and source logs of a job do not go away. Nothing was copied, and former backups are as they were.",
            remedy="streamproof restore puts a former backup in its place. For a new job without them name another place.",
        )


def _behind(found: Inspection, seen: Verified, batch: int) -> tuple[str, ...]:
    newest = found.logs.newest_committed
    return () if newest is None or batch >= newest else tuple(dict.fromkeys(problem.says for problem in seen.problems))


def _point(
    found: Inspection, seen: Verified, place: Place, former: Point | None, batch: int, keep: int, say: Callable[[str], None]
) -> BackedUp:
    at = now_utc().replace(microsecond=0)
    if former is not None:
        at = max(at, former.at + timedelta(seconds=1))
    point = place.point(at, batch)
    with place.making(point) as made:
        copy = _Point(
            found,
            found.path.absolute(),
            made,
            batch,
            done_again(found, seen, batch),
            harmed_files(seen),
            former=None if former is None else place.shared(former),
            say=say,
        )
        copy.make()
        say("verifying the copy")
        _require_sound_copy(made, batch)
        say(f"to {place.where}")
        sent = place.put(made, point)
    written = Amount(copy.written.files, copy.written.bytes) if sent is None else sent
    return _done(found, seen, place, point, written, keep)


def _done(found: Inspection, seen: Verified, place: Place, point: Point, written: Amount | None, keep: int) -> BackedUp:
    """What there is of a point, made with what was written, or there already; plans since come along, and older points go."""
    plans = _keep_plans(found, place, point.batch)
    return BackedUp(
        point,
        written is not None,
        point.batch,
        _newest(found, point.batch),
        _behind(found, seen, point.batch),
        *place.size(point),
        *(written or Amount(0, 0)),
        plans,
        tuple(place.remove_older(keep)),
    )


def _newest(found: Inspection, batch: int) -> int:
    newest = found.logs.newest_committed
    return batch if newest is None else newest


def _keep_plans(found: Inspection, place: Place, batch: int) -> int:
    """Puts the plans of the batches after the point beside it, as far as there are any."""
    numbers = [int(name) for name in list_names(found.path / FOLDER / MANIFESTS) if name.isdigit()]
    return sum(place.keep_plan(found.path, number) for number in sorted(numbers) if number > batch)


def _require_sound_copy(copy: Path, batch: int) -> None:
    what = damage_of_point(copy, batch)
    if what is None:
        return
    raise CheckpointError(
        f"The backup {copy} is not sound: {what}",
        required="A backup counts once it was read back and verified. Former ones are as they were.",
        remedy="Run this again; a checkpoint that runs may have been changed several times while it was copied. If it stays so, look at that disk.",
    )


@dataclass
class _Written:
    files: int = 0
    bytes: int = 0
    looked_at: int = 0
    spare: set[str] = field(default_factory=set)
    """Files that only the batch before the point needs, relative to the checkpoint."""


@dataclass(frozen=True)
class _Point(Copy):
    """A copy with what a start needs and no more: the newest state, and the one before, which `run --replay-last` takes.

    Parameters
    ----------
    former
        The point before: a file that it has with the same bytes is linked.
    """

    former: Path | None = None
    say: Callable[[str], None] = lambda _: None
    written: _Written = field(default_factory=_Written)

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
        spare, needed = (set().union(*map(self.named, of.files)) for of in (before, newest))
        self.written.spare.update(spare - needed)
        files = {file.path: file for file in (*newest.files, *(() if before.missing else before.files))}
        return self.whole(files.values())

    def _take(self, name: str, to: str = "") -> None:
        """Leaves a file out that the job has removed meanwhile, where the newest state does without it: it is no damage of this point."""
        try:
            super()._take(name, to)
        except CheckpointError:
            if name not in self.written.spare or (self.source / name).exists():
                raise
            target = self.to / (to or name)
            for copied in (target, target.with_name(f".{target.name}.crc"), target.with_name(f"{target.name}.crc")):
                copied.unlink(missing_ok=True)

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
