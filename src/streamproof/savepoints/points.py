"""The folder that a checkpoint is backed up to: its points, each a whole checkpoint, and the plans of the batches after them.

DIR/20261128T233500Z-batch-41/   the checkpoint as it was after batch 41; files that the point before has too are hard links
DIR/plans/42                     the manifest of batch 42, word for word: what it was planned to read, and what it staged
DIR/plans/tables/...             the versions of tables that these batches have used
"""

import fcntl
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from streamproof.checkpoint.folder import COMMITS, METADATA, OFFSETS, SOURCES, STATE, is_checkpoint, list_names, read_text
from streamproof.checkpoint.own import FOLDER
from streamproof.core.incarnation import Incarnation
from streamproof.core.manifest import Fingerprint, Manifest
from streamproof.errors import ConfigurationError
from streamproof.savepoints.copying import MANIFESTS

PARTIAL = ".partial"
PLANS, TABLES, PINNED = "plans", "tables", "_pinned"
_LOCK = ".lock"
_NAME = re.compile(r"(?P<at>\d{8}T\d{6}Z)-batch-(?P<batch>\d+)")
_TIME = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True)
class Point:
    """One backup: a checkpoint as it was after a batch.

    Parameters
    ----------
    where
        Its folder; in a store the URI of its list.
    at
        When it was made, UTC.
    """

    where: str
    at: datetime
    batch: int

    @property
    def name(self) -> str:
        return name_of(self.at, self.batch)

    @property
    def path(self) -> Path:
        """Its folder, of one on this machine."""
        return Path(self.where)


def name_of(at: datetime, batch: int) -> str:
    """What a point is called."""
    return f"{at.astimezone(UTC).strftime(_TIME)}-batch-{batch}"


def points_in(folder: Path) -> list[Point]:
    """The points of a backup, oldest first; none where there is no such folder."""
    found = (point_named(name, str(folder / name)) for name in list_names(folder))
    return sorted((point for point in found if point is not None), key=lambda point: (point.at, point.batch))


def point_named(name: str, where: str) -> Point | None:
    """The point that a name is of; None where it is of none."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return Point(where, datetime.strptime(match["at"], _TIME).replace(tzinfo=UTC), int(match["batch"]))


def logs_of(batch: int) -> tuple[str, ...]:
    """The files by which one sees whether two copies of a checkpoint are as it was after the same batch."""
    return (METADATA, f"{OFFSETS}/{batch}", f"{COMMITS}/{batch}", f"{FOLDER}/{MANIFESTS}/{batch}")


def kept_in(checkpoint: Path) -> frozenset[str]:
    """The folders of operators and of sources in a checkpoint, as `state/0`: no Spark removes one."""
    return frozenset(f"{kind}/{name}" for kind in (SOURCES, STATE) for name in list_names(checkpoint / kind) if name.isdigit())


def require_fit(folder: Path, checkpoint: Path) -> None:
    """ConfigurationError unless a folder can take the backups of a checkpoint: it is another place, and has nothing else in it."""
    here, there = checkpoint.resolve(), folder.resolve()
    where = "is the checkpoint itself" if here == there else "lies in the checkpoint" if here in there.parents else ""
    where = where or ("holds the checkpoint" if there in here.parents else "")
    if where:
        raise ConfigurationError(
            f"{folder} {where}, {checkpoint}.",
            required="What destroys the one must leave the other: a backup lies in a folder of its own, best on another disk.",
            remedy="Name such a folder; it is made if it is not there.",
        )
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder} is a file.", required="Backups go to a folder.", remedy="Name another one.")
    if is_checkpoint(folder):
        raise ConfigurationError(
            f"{folder} is a checkpoint.",
            required="Backups go to a folder of their own.",
            remedy="Name another one; it is made if it is not there.",
        )
    others = [name for name in list_names(folder) if name != PLANS and not _NAME.fullmatch(name.removesuffix(PARTIAL))]
    if others:
        raise ConfigurationError(
            f"{folder} has {', '.join(others[:3])}{' and more' if len(others) > 3 else ''}, which are no backups.",
            required="Backups of one checkpoint go to a folder of their own.",
            remedy="Name an empty one, or one that is not there yet.",
        )
    newest = next(reversed(points_in(folder)), None)
    require_one_checkpoint(str(folder), checkpoint, identity_of(newest.path) if newest is not None else "")


def require_one_checkpoint(where: str, checkpoint: Path, theirs: str) -> None:
    """ConfigurationError if a place has backups of another checkpoint; `theirs` is the identity of those there, "" where none is known."""
    mine = identity_of(checkpoint)
    if mine and theirs and mine != theirs:
        raise ConfigurationError(
            f"{where} has backups of another checkpoint ({theirs}); this is {mine}.",
            required="Backups of one checkpoint go to a place of their own: the oldest ones are removed.",
            remedy="Name another one.",
        )


def identity_of(checkpoint: Path) -> str:
    """Whose checkpoint it is, for people and to compare: of a job of ours its incarnation, else Spark's id of the query; "" where that is lost."""
    text = read_text(checkpoint / FOLDER / "incarnation.json")
    try:
        found = Incarnation.from_json(text or "", where=f"{FOLDER}/incarnation.json")
        return f"{found.job}, {found.query}, incarnation {found.incarnation[:8]}"
    except ValueError:
        pass
    try:
        return f"query {json.loads(read_text(checkpoint / METADATA) or '')['id']}"
    except (ValueError, KeyError, TypeError):
        return ""


@contextmanager
def only_one(folder: Path, named: str = "") -> Iterator[None]:
    """While backups are written to a folder, or to what is named; ConfigurationError if another process writes there at this moment."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(
                f"Another process writes a backup to {named or folder} at this moment.",
                required="One at a time.",
                remedy="Wait for it; streamproof run and a scheduled streamproof backup need not share a place.",
            ) from None
        yield


def plans_in(folder: Path) -> Mapping[int, Manifest]:
    """The manifests in a folder, by batch; torn ones are left aside."""
    found = {}
    for name in list_names(folder):
        if name.isdigit():
            try:
                manifest = Manifest.from_json(read_text(folder / name) or "", where=str(folder / name))
            except ValueError:
                continue
            found[int(name)] = manifest
    return dict(sorted(found.items()))


def keep_plan(checkpoint: Path, folder: Path, batch: int) -> bool:
    """Puts the manifest of a batch beside the points, with the versions of tables that it names; whether it is new there.

    Where the batch was there with other input, what came after it is removed: it belongs to another history.
    """
    text = read_text(checkpoint / FOLDER / MANIFESTS / str(batch))
    if text is None:
        return False
    plans, kept = folder / PLANS, folder / PLANS / str(batch)
    before = read_text(kept)
    if before == text:
        return False
    mine, theirs = (fingerprint_in(one) for one in (text, before))
    for name, version in (mine.tables if mine is not None else {}).items():
        _copy_version(checkpoint / FOLDER / TABLES / name / version, plans / TABLES / name / version)
    if theirs is not None and theirs != mine:
        for number in [int(name) for name in list_names(plans) if name.isdigit() and int(name) > batch]:
            (plans / str(number)).unlink()
    plans.mkdir(parents=True, exist_ok=True)
    partial = kept.with_name(f".{batch}{PARTIAL}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(kept)
    return True


def fingerprint_in(text: str | None) -> Fingerprint | None:
    """What the manifest in a text says that its batch is; None where it is torn, or there is none."""
    try:
        return Manifest.from_json(text or "").fingerprint
    except ValueError:
        return None


def _copy_version(version: Path, to: Path) -> None:
    if to.exists() or not version.is_dir():
        return
    partial = to.with_name(f".{to.name}{PARTIAL}")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(version, partial)
    partial.rename(to)


def remove_older(folder: Path, keep: int) -> list[Point]:
    """Removes all points but the newest `keep`, and the plans that no point needs any more; those that were removed."""
    points = points_in(folder)
    gone = points[: max(0, len(points) - keep)]
    for point in gone:
        away = point.path.with_name(point.path.name + PARTIAL)  # what is half removed is no point any more
        point.path.rename(away)
        shutil.rmtree(away)
    for number in needless([int(name) for name in list_names(folder / PLANS) if name.isdigit()], points[len(gone) :]):
        (folder / PLANS / str(number)).unlink()
    _remove_versions(folder / PLANS)
    return gone


def needless(plans: Sequence[int], kept: Sequence[Point]) -> list[int]:
    """The batches whose plans no point needs any more: each point that stays is of that batch, or of a later one."""
    return [number for number in plans if kept and number <= min(point.batch for point in kept)]


def _remove_versions(plans: Path) -> None:
    named = {(name, version) for manifest in plans_in(plans).values() for name, version in manifest.fingerprint.tables.items()}
    for name in list_names(plans / TABLES):
        for version in list_names(plans / TABLES / name):
            if (name, version) not in named:
                shutil.rmtree(plans / TABLES / name / version)
