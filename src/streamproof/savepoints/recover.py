"""`streamproof recover`: a sound copy of a checkpoint as it was after an older batch, made beside it.

The copy has no name of its own until it is whole: it is written as `NAME.partial`, read back, verified, and renamed. What is there already is
never touched.
"""

import errno
import shutil
from dataclasses import dataclass
from pathlib import Path

from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.verify.sound import Cost, Verified, cost_of, verify
from streamproof.errors import CheckpointError, ConfigurationError, DiskFull
from streamproof.savepoints.copying import Copy, done_again, harmed_files, sync
from streamproof.savepoints.damage import damage_of_point

_PARTIAL = ".partial"


@dataclass(frozen=True)
class Recovered:
    """A copy that was made.

    Parameters
    ----------
    path
        The new checkpoint.
    batch
        A start goes on after this one.
    again
        The batch after it, where its plan was kept: a start does it again over the same input. None where there is none.
    cost
        What is computed again.
    as_planned
        Of a job of ours the batches that a start does again as they were planned, ascending.
    """

    path: Path
    batch: int
    again: int | None
    cost: Cost
    as_planned: tuple[int, ...] = ()


def recover(found: Inspection, batch: int) -> Recovered:
    """Makes a sound copy of a checkpoint as it was after a batch, beside it: `CHECKPOINT-at-BATCH`.

    Raises
    ------
    ConfigurationError
        If the batch is none that a start can go on from, or the copy is there already.
    DiskFull
        If the disk is full; what was written is taken away again.
    CheckpointError
        If the copy is not sound: it was changed while it was made, and is taken away again.
    """
    seen = verify(found)
    _require_sound(found, seen, batch)
    # A path without "..", whose name is that of the folder.
    source = found.path.absolute()
    target = source.with_name(f"{source.name}-at-{batch}")
    partial = target.with_name(target.name + _PARTIAL)
    if target.exists():
        raise ConfigurationError(
            f"{target} is there already.",
            required="The copy gets this name.",
            remedy="Move it away or delete it, and run this again.",
        )
    if partial.exists():
        shutil.rmtree(partial)  # left by a run that was ended
    again = done_again(found, seen, batch)
    try:
        copy = Copy(found, source, partial, batch, again, harmed_files(seen))
        copy.make()
        _require_sound_copy(partial, batch)
        sync(partial)
        partial.rename(target)
    except OSError as problem:
        shutil.rmtree(partial, ignore_errors=True)
        if problem.errno == errno.ENOSPC:
            raise DiskFull(
                f"{partial} cannot be written: the disk is full.",
                required="A copy takes as much as the state of the checkpoint. What was written of it is gone again.",
                remedy="Make room, and run this again.",
            ) from None
        raise ConfigurationError(f"{partial} cannot be written: {problem.strerror}.") from None
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    as_planned = () if found.own is None else (*([] if again is None else [again]), *copy.ahead())
    return Recovered(target, batch, again, cost_of(found, batch), as_planned)


def _require_sound(found: Inspection, seen: Verified, batch: int) -> None:
    if batch in seen.sound:
        return
    sound = ", ".join(map(str, seen.sound))
    why = "is not committed" if batch not in found.logs.committed else "lacks something that a start needs"
    raise ConfigurationError(
        f"Batch {batch} of {found.path} {why}.",
        required=f"A start can go on after the batches {sound}." if sound else "A start can go on after none of its batches.",
        remedy=f"streamproof inspect {found.path} --verify says what is damaged.",
    )


def _require_sound_copy(copy: Path, batch: int) -> None:
    what = damage_of_point(copy, batch)
    if what is not None:
        raise CheckpointError(
            f"The copy is not sound: {what}",
            required="Nothing may write to a checkpoint that is copied.",
            remedy="Stop the job, and run this again. The copy is gone again, and the checkpoint is as it was.",
        )
