"""What a crash before the first batch leaves in a checkpoint, so that Spark does not start on it any more.

Spark 4.3 refuses batch 0 of a query with state while its `offsets`, `commits` or `state` hold anything, a temporary file included
(STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY). No batch was planned then, so nothing is lost by emptying them; but a person has to do it.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

SAYS = (
    "A crash before the first batch was planned can leave a temporary file in the checkpoint, on which Spark 4.3 does not start any more "
    "(STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY). The proof emptied offsets, commits and state, as you would have to, and the job went on. "
    "No batch had been planned, so nothing was lost."
)
_FOLDERS = ("offsets", "commits", "state")


def emptied(checkpoints: Iterable[Path]) -> bool:
    """Empties those of the checkpoints that no batch was planned in and that are not empty; whether there was one."""
    found = [checkpoint for checkpoint in checkpoints if not _planned(checkpoint) and any(map(_holds, _folders(checkpoint)))]
    for checkpoint in found:
        for folder in _folders(checkpoint):
            shutil.rmtree(folder, ignore_errors=True)
    return bool(found)


def _planned(checkpoint: Path) -> bool:
    return any(path.name.isdigit() for folder in ("offsets", "commits") for path in (checkpoint / folder).glob("*"))


def _folders(checkpoint: Path) -> list[Path]:
    return [checkpoint / name for name in _FOLDERS]


def _holds(folder: Path) -> bool:
    return any(path.is_file() for path in folder.rglob("*"))
