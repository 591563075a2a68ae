"""`streamproof restore`: puts a backup where its checkpoint was, with the plans of the batches after it.

A job of ours then does these batches again as they were planned (`runtime/as_planned.py`), and compares them with what its outputs have.
"""

import errno
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from streamproof.checkpoint.folder import OFFSETS, checkpoint_at, is_checkpoint, list_names, read_text
from streamproof.checkpoint.own import AHEAD, FOLDER, read_own
from streamproof.core.incarnation import Incarnation
from streamproof.core.manifest import Manifest
from streamproof.errors import CheckpointError, ConfigurationError, DiskFull
from streamproof.savepoints.copying import MANIFESTS, sync
from streamproof.savepoints.damage import damage_of_point
from streamproof.savepoints.in_folder import InFolder
from streamproof.savepoints.place import Place
from streamproof.savepoints.points import PARTIAL, TABLES, Point, plans_in

_SCRATCH = ".plans.partial"


@dataclass(frozen=True)
class Restored:
    """A checkpoint that was put back.

    Parameters
    ----------
    path
        Where it is.
    point
        What it was made of.
    passed_over
        Newer backups that are damaged, with what is wrong.
    again
        The batches that the job does again as they were planned, ascending; none where another program has written the checkpoint.
    ours
        Whether a job of ours has written it.
    """

    path: Path
    point: Point
    passed_over: tuple[tuple[Point, str], ...]
    again: tuple[int, ...]
    ours: bool


def restore(
    backup: Path | Place,
    to: Path,
    *,
    batch: int | None = None,
    plans_of: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Restored:
    """Makes a checkpoint of the newest sound backup.

    Parameters
    ----------
    backup
        The place that the backups are in; a path is a folder.
    to
        Where the checkpoint was: nothing may be there.
    batch
        Takes the newest backup of this batch instead.
    plans_of
        The damaged checkpoint: plans that the backup lacks are taken from it, as far as they are whole.

    Raises
    ------
    ConfigurationError
        If there is no such backup, something is where the checkpoint goes, it would go among its backups, or `plans_of` is no checkpoint.
    CheckpointError
        If no backup is sound.
    StoreUnavailable
        If a store does not answer.
    DiskFull
        If the disk is full; what was written is taken away again.
    """
    place = backup if isinstance(backup, Place) else InFolder(backup)
    points = place.points()
    _require_points(place, points, batch)
    place.require_outside(to)
    _require_free(to)
    _require_checkpoint(plans_of)
    target = to.absolute()
    partial, scratch = (target.with_name(target.name + ending) for ending in (PARTIAL, _SCRATCH))
    try:
        for left in (partial, scratch):  # by a run that was ended
            shutil.rmtree(left, ignore_errors=True)
        chosen, passed_over = _sound(place, points, batch, partial, say)
        again = _put_plans(partial, place.plans(scratch), plans_of, chosen.batch)
        sync(partial)
        if target.exists():
            target.rmdir()
        partial.rename(target)
    except OSError as problem:
        shutil.rmtree(partial, ignore_errors=True)
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"{partial} cannot be written: the disk is full.",
                required="A checkpoint takes as much as its backup. What was written of it is gone again; the backup is as it was.",
                remedy="Make room, and run this again.",
            ) from None
        raise ConfigurationError(
            f"{problem.filename or partial} cannot be written or read: {problem.strerror or problem}."
        ) from None
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Restored(to, chosen, passed_over, again, (to / FOLDER).is_dir())


def _require_points(place: Place, points: list[Point], batch: int | None) -> None:
    if not points:
        raise place.nothing()
    if batch is not None and batch not in {point.batch for point in points}:
        raise ConfigurationError(
            f"{place.where} has no backup of batch {batch}.",
            required=f"It has the batches {', '.join(str(point.batch) for point in points)}.",
            remedy="Name one of them, or none: then the newest one is taken.",
        )


def _require_free(to: Path) -> None:
    if not to.exists() or (to.is_dir() and not any(to.iterdir())):
        return
    place = shlex.quote(str(to))
    what = "a checkpoint" if is_checkpoint(to) else "something"
    raise ConfigurationError(
        f"At {to} is {what} already.",
        required="A backup is put where nothing is; what is damaged stays for whoever looks for the cause.",
        remedy=f"Stop the job, and move it away: mv {place} {place}.damaged",
    )


def _require_checkpoint(damaged: Path | None) -> None:
    """ConfigurationError unless plans can be looked for there; what is damaged may have lost all but these."""
    if damaged is None or is_checkpoint(damaged) or (damaged / FOLDER / MANIFESTS).is_dir():
        return
    below = checkpoint_at(damaged)
    raise ConfigurationError(
        f"{damaged} is no checkpoint.",
        required="Plans of the batches since are taken from the damaged checkpoint itself. Nothing was put back.",
        remedy=f"Name {below}.",
    )


def _sound(
    place: Place, points: list[Point], batch: int | None, copy: Path, say: Callable[[str], None]
) -> tuple[Point, tuple[tuple[Point, str], ...]]:
    """Copies the newest sound point; which it is, and the newer ones that are damaged."""
    passed_over: list[tuple[Point, str]] = []
    for point in reversed(points):
        if batch is not None and point.batch != batch:
            continue
        say(f"copying {point.name}")
        damage = _copied(place, point, copy, say)
        if damage is None:
            return point, tuple(passed_over)
        shutil.rmtree(copy, ignore_errors=True)
        passed_over.append((point, damage))
    named = "; ".join(f"{point.name}: {damage}" for point, damage in passed_over)
    raise CheckpointError(
        f"No backup in {place.where} is sound: {named}",
        required="A backup that was made is whole; what it lies in has lost something of it since. Nothing was put back.",
        remedy="Bring what is missing back from elsewhere, or start over with a new checkpoint and new outputs.",
    )


def _copied(place: Place, point: Point, copy: Path, say: Callable[[str], None]) -> str | None:
    """Copies a point; what is wrong with it, None where a start goes on from the copy."""
    try:
        place.fetch(point, copy)
    except CheckpointError as problem:
        return problem.message
    say(f"verifying {point.name}")
    return damage_of_point(copy, point.batch)


def _put_plans(checkpoint: Path, plans: Path, damaged: Path | None, batch: int) -> tuple[int, ...]:
    """Puts the plans of the batches after a point where the job finds them, as far as none is missing between; which they are."""
    if not (checkpoint / FOLDER).is_dir():
        return ()
    again = []
    whose = _incarnation(checkpoint)
    known = {number: one for number, one in _known(plans, damaged).items() if one[0].incarnation == whose}
    if (own := plans_in(checkpoint / FOLDER / MANIFESTS).get(batch)) is not None:  # it says best where the backup ends
        known[batch] = own, checkpoint / FOLDER / TABLES
    for number, (manifest, tables) in _after(batch, known):
        folder = checkpoint / FOLDER / AHEAD
        folder.mkdir(exist_ok=True)
        (folder / str(number)).write_text(manifest.to_json(), encoding="utf-8")
        for name, version in manifest.fingerprint.tables.items():
            kept, to = tables / name / version, checkpoint / FOLDER / TABLES / name / version
            if kept.is_dir() and not to.exists():
                shutil.copytree(kept, to)
        again.append(number)
    planned = [int(name) for name in list_names(checkpoint / OFFSETS) if name.isdigit()]
    return tuple(sorted({*again, *(number for number in planned if number > batch)}))


def _known(plans: Path, damaged: Path | None) -> Mapping[int, tuple[Manifest, Path]]:
    """By batch the manifest, and where its versions of tables are; what the damaged checkpoint says is newer."""
    found = {number: (manifest, plans / TABLES) for number, manifest in plans_in(plans).items()}
    if damaged is not None:
        own = damaged / FOLDER
        found |= {number: (manifest, own / TABLES) for number, manifest in plans_in(own / MANIFESTS).items()}
    return found


def _incarnation(checkpoint: Path) -> str:
    where = f"{FOLDER}/incarnation.json"
    try:
        return Incarnation.from_json(read_text(checkpoint / where) or "", where=where).incarnation
    except ValueError:  # torn: a start makes it again from the manifests
        own = read_own(checkpoint)
        return own.newest.incarnation if own is not None and own.newest is not None else ""


def _after(batch: int, known: Mapping[int, tuple[Manifest, Path]]) -> Iterator[tuple[int, tuple[Manifest, Path]]]:
    """The batches after one, as long as each begins where the one before it has ended."""
    number, before = batch + 1, known.get(batch)
    while (one := known.get(number)) is not None and (before is None or _follows(before[0], one[0])):
        yield number, one
        number, before = number + 1, one


def _follows(before: Manifest, after: Manifest) -> bool:
    ends = before.fingerprint.offsets
    return all(int(source) >= len(ends) or ends[int(source)] in ("-", start) for source, start in after.fingerprint.starts.items())
