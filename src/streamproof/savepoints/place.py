"""Where the backups of one checkpoint go to, and come back from: a folder of this machine, or a store."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from streamproof.checkpoint.inspection import Inspection
from streamproof.errors import ConfigurationError
from streamproof.savepoints.points import Point


class Amount(NamedTuple):
    """How many files, and their bytes."""

    files: int
    bytes: int


class Place(ABC):
    """A place for the backups of one checkpoint."""

    @property
    @abstractmethod
    def where(self) -> str:
        """What it is called in messages and commands."""

    @property
    @abstractmethod
    def works_in(self) -> Path:
        """The folder of this machine that a point is made in."""

    @abstractmethod
    def points(self) -> list[Point]:
        """The points, oldest first; none where nothing is there yet."""

    @abstractmethod
    def point(self, at: datetime, batch: int) -> Point:
        """The point that is made at a moment, of a batch; not there yet."""

    @abstractmethod
    def require_fit(self, checkpoint: Path) -> None:
        """ConfigurationError unless it can take the backups of a checkpoint: it is another place, and has nothing else in it."""

    def require_outside(self, checkpoint: Path) -> None:
        """ConfigurationError if a checkpoint that is put back would lie among its backups: each later one would be refused."""
        return

    @abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """While backups are written; ConfigurationError if another process does so at this moment. What one that was ended has left goes."""

    @abstractmethod
    def making(self, point: Point) -> AbstractContextManager[Path]:
        """A folder of this machine to make a point in, which is not there yet, and is not there any more afterwards."""

    @abstractmethod
    def put(self, made: Path, point: Point) -> Amount | None:
        """Has a point that was made and verified count; what was sent for that, None where nothing had to be."""

    @abstractmethod
    def holds(self, point: Point, found: Inspection, batch: int) -> bool:
        """Whether a point is there as a whole, and is as the checkpoint is after a batch: by the plan, the commit and the manifest of that batch."""

    @abstractmethod
    def size(self, point: Point) -> Amount:
        """What a point has."""

    @abstractmethod
    def kept(self, point: Point) -> frozenset[str]:
        """The folders of operators and of sources that a point has, as `state/0`; none where it is damaged."""

    def shared(self, point: Point) -> Path | None:
        """The folder with the files of a point, where a new one may share them."""
        return None

    @abstractmethod
    def keep_plan(self, checkpoint: Path, batch: int) -> bool:
        """Puts the manifest of a batch beside the points, with the versions of tables that it names; whether it is new there.

        Where the batch was there with other input, what came after it is removed: it belongs to another history.
        """

    @abstractmethod
    def remove_older(self, keep: int) -> Sequence[Point]:
        """Removes all points but the newest, and the plans and files that no point needs any more; the points that were removed."""

    @abstractmethod
    def fetch(self, point: Point, to: Path) -> None:
        """Makes a folder of a point, byte for byte; CheckpointError if something of it is missing or differs."""

    @abstractmethod
    def plans(self, scratch: Path) -> Path:
        """The folder with the plans and the versions of tables that they name; one that has to be made is made in `scratch`."""

    def end(self) -> None:
        """Has what is under way fail soon, where the process would wait for it as it ends."""
        return

    @abstractmethod
    def nothing(self) -> ConfigurationError:
        """What to say where it has no points."""


def nothing_in(where: str, below: Sequence[str], *, there: bool) -> ConfigurationError:
    """What to say of a place without points; `below` it are such that have some."""
    return ConfigurationError(
        f"{where} has no backups." if there else f"There is no {where}.",
        required="streamproof backup CHECKPOINT --to PLACE, or [backup] of a job, makes them; a job has a place for each of its queries.",
        remedy=f"Name one of {', '.join(below)}." if below else "Name the place that was given to --to.",
    )
