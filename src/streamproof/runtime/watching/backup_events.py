"""What a run says of the backups of its checkpoints, made on a schedule."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from streamproof.runtime.watching.events import RunEvent


@dataclass(frozen=True)
class BackedUp(RunEvent):
    """There is a backup of the newest sound point of a checkpoint: it was made now, or nothing has changed since the newest one (`files` is 0).

    Parameters
    ----------
    batch
        The checkpoint as it was after this batch.
    path
        Where the backup is.
    files, bytes
        What was written; the rest is shared with the backup before.
    every
        How often backups are due, seconds.
    """

    kind: ClassVar[str] = "backed-up"
    query: str
    batch: int
    path: str
    files: int
    bytes: int
    seconds: float
    every: float


@dataclass(frozen=True)
class BackupFailed(RunEvent):
    """A backup could not be made, and `why`; the job goes on, and it is tried again. `newest` is when the newest one was made, None without any."""

    kind: ClassVar[str] = "backup-failed"
    query: str
    why: str
    newest: datetime | None
    every: float
