"""Backups of a checkpoint in a folder of this machine, a mounted disk for instance: what `points.py` says of one, as a place."""

import filecmp
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from streamproof.checkpoint.folder import list_names
from streamproof.checkpoint.inspection import Inspection
from streamproof.errors import CheckpointError, ConfigurationError
from streamproof.savepoints.copying import sync
from streamproof.savepoints.damage import damage_of_point
from streamproof.savepoints.place import Amount, Place, nothing_in
from streamproof.savepoints.points import (
    PARTIAL,
    PLANS,
    Point,
    keep_plan,
    kept_in,
    logs_of,
    name_of,
    only_one,
    points_in,
    remove_older,
    require_fit,
)


class InFolder(Place):
    """Backups in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def where(self) -> str:
        return str(self._folder)

    @property
    def works_in(self) -> Path:
        return self._folder

    def points(self) -> list[Point]:
        return points_in(self._folder)

    def point(self, at: datetime, batch: int) -> Point:
        return Point(str(self._folder / name_of(at, batch)), at, batch)

    def require_fit(self, checkpoint: Path) -> None:
        require_fit(self._folder, checkpoint)

    def require_outside(self, checkpoint: Path) -> None:
        if self._folder.resolve() in checkpoint.resolve().parents:
            raise ConfigurationError(
                f"{checkpoint} lies in {self._folder}, where the backups are.",
                required="A folder of backups has nothing else in it: each later backup would be refused.",
                remedy="Name the path where the checkpoint was.",
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        with only_one(self._folder):
            for name in list_names(self._folder):
                if name.endswith(PARTIAL):  # left by a process that was ended
                    shutil.rmtree(self._folder / name)
            yield

    @contextmanager
    def making(self, point: Point) -> Iterator[Path]:
        partial = self._folder / f"{point.name}{PARTIAL}"
        try:
            yield partial
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def put(self, made: Path, point: Point) -> None:
        sync(made)
        made.rename(self._folder / point.name)

    def holds(self, point: Point, found: Inspection, batch: int) -> bool:
        return (
            point.batch == batch
            and all(
                (found.path / name).exists() == (point.path / name).exists()
                and (not (point.path / name).exists() or filecmp.cmp(found.path / name, point.path / name, shallow=False))
                for name in logs_of(batch)
            )
            and damage_of_point(point.path, batch) is None
        )

    def size(self, point: Point) -> Amount:
        sizes = [path.stat().st_size for path in point.path.rglob("*") if path.is_file()]
        return Amount(len(sizes), sum(sizes))

    def kept(self, point: Point) -> frozenset[str]:
        return kept_in(point.path)

    def shared(self, point: Point) -> Path | None:
        return point.path

    def keep_plan(self, checkpoint: Path, batch: int) -> bool:
        return keep_plan(checkpoint, self._folder, batch)

    def remove_older(self, keep: int) -> Sequence[Point]:
        return remove_older(self._folder, keep)

    def fetch(self, point: Point, to: Path) -> None:
        shutil.copytree(point.path, to)
        for path in point.path.rglob("*"):
            copy = to / path.relative_to(point.path)
            if path.is_file() and not filecmp.cmp(path, copy, shallow=False):
                raise CheckpointError(
                    f"{copy} is not what {path} is, of which it is a copy.",
                    required="What is put back is the backup, byte for byte.",
                    remedy="Look at that disk, and run this again. What was written is gone again.",
                )

    def plans(self, scratch: Path) -> Path:
        return self._folder / PLANS

    def nothing(self) -> ConfigurationError:
        below = [str(self._folder / name) for name in list_names(self._folder) if points_in(self._folder / name)]
        return nothing_in(self.where, below, there=self._folder.exists())
