"""What a crash has left of a real-time query: batches that Spark has committed, and nobody has accounted for."""

from typing import TYPE_CHECKING

from streamproof.core.manifest import Manifest
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import CheckpointError, TornCheckpoint
from streamproof.runtime.journal.journal import Journal
from streamproof.runtime.journal.logs import QueryLogs, delete_log
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.real_time.marker import Marker

if TYPE_CHECKING:
    from streamproof._jvm import Storage

_COMMIT = 'v2\n{"nextBatchWatermarkMs":0}'
"""What Spark's commit log says of a batch without state."""
_OTHERWISE = "Restore the checkpoint from a backup, or start over with a new one and new outputs."


def put_in_order(journal: Journal, *, real_time: bool, replay_last: bool) -> list[Note]:
    """Before any start: takes back what a real-time run has left unaccounted; says what it did.

    Parameters
    ----------
    real_time
        Whether this start has that trigger too.
    replay_last
        As in `run_job`.

    Raises
    ------
    CheckpointError
        If another trigger has left a batch that is not over, or if the newest batch is asked for again: it cannot be computed again.
    TornCheckpoint
        If the newest manifest is torn.
    """
    storage, logs, manifests = journal.storage, journal.logs, journal.manifests
    marker = Marker(storage, manifests.checkpoint)
    if not (real_time or marker.is_there):
        return []
    if replay_last:
        raise not_again(manifests.checkpoint)
    accounted, notes = max(manifests.batches(), default=-1), list[Note]()
    if not marker.is_there:
        _require_over(logs, manifests, accounted)
    elif accounted >= 0:
        notes = _as_accounted(storage, logs, manifests, accounted)
    notes += _take_back(storage, logs, accounted)
    if not real_time:
        marker.remove()
    return notes


def _require_over(logs: QueryLogs, manifests: ManifestStore, newest: int) -> None:
    """CheckpointError if another trigger has left a batch under way."""
    if newest >= 0 and not logs.committed(newest):
        raise CheckpointError(
            f"Batch {newest} of {manifests.checkpoint} is under way: another trigger than real-time has planned it.",
            required="A batch that is not over is done again as it was planned, and a batch of the real-time trigger is not planned.",
            remedy='Run the job once with trigger = "available-now", then with this one.',
        )


def _as_accounted(storage: "Storage", logs: QueryLogs, manifests: ManifestStore, newest: int) -> list[Note]:
    """Lets Spark's logs of the newest batch be what its manifest says: another driver, or Spark's own clearing, may have changed them.

    The manifest was written after Spark's commit, so the batch was committed. `restore_logs`, which comes next, puts back the offsets.
    """
    manifest = manifests.whole(newest)
    if manifest is None:
        raise TornCheckpoint(
            f"The manifest {manifests.path(newest)} is torn.",
            required="It holds the account, and says how far the records of the topic are accounted for. The trigger was real-time.",
            remedy=_OTHERWISE,
        )
    notes, offsets, commit = list[Note](), f"{logs.checkpoint}/offsets/{newest}", f"{logs.checkpoint}/commits/{newest}"
    if storage.read(offsets) not in (None, manifest.offset_log):
        delete_log(storage, offsets)
        notes.append(Note(NoteCode.RESTORED, f"{offsets} was not what is accounted for, and was removed."))
    if not logs.committed(newest):
        storage.create_atomic(commit, _COMMIT)
        notes.append(Note(NoteCode.RESTORED, f"{commit} was missing, and is made again."))
    return notes


def _take_back(storage: "Storage", logs: QueryLogs, accounted: int) -> list[Note]:
    """Removes Spark's logs of each batch behind the newest manifest, so that its records are read again.

    Rows of such a batch can be in the topic. What it has rejected is published nowhere: only the manifest would have named it.
    """
    behind = {log: [batch for batch in logs.batches(log) if batch > accounted] for log in ("commits", "offsets")}
    for log, batches in behind.items():
        for batch in reversed(batches):
            delete_log(storage, f"{logs.checkpoint}/{log}/{batch}")
    if not behind["commits"]:
        return []
    said = (
        f"The run before ended between the commit of batch {behind['commits'][0]} and its account: its records are read again, "
        "and are in the topic twice."
    )
    return [Note(NoteCode.BATCH_TAKEN_BACK, said)]


def require_again_possible(manifest: Manifest | None, checkpoint: str) -> None:
    """CheckpointError if the rows of a batch went out while it ran: computed again it would send them once more, or to another sink."""
    if manifest is not None and manifest.sent_while_it_ran:
        raise not_again(checkpoint)


def not_again(checkpoint: str) -> CheckpointError:
    """The error for `--replay-last` where the newest batch is of this trigger, in one place."""
    return CheckpointError(
        f"The newest batch of {checkpoint} was done by the real-time trigger, and cannot be computed again by --replay-last.",
        required="Such a batch is over by time: no other has the same records. What a crash leaves of it is read again without the option.",
        remedy=f"Run without --replay-last. Where that stops: {_OTHERWISE[0].lower()}{_OTHERWISE[1:]}",
    )
