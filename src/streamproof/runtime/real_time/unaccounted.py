"""What a crash has left of a real-time query: batches that Spark has committed, and nobody has accounted for."""

from typing import TYPE_CHECKING

from streamproof.core.manifest import Manifest
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import CheckpointError, TornCheckpoint
from streamproof.runtime.logs import QueryLogs
from streamproof.runtime.manifests import ManifestStore
from streamproof.runtime.real_time.marker import Marker

if TYPE_CHECKING:
    from streamproof._jvm import Storage

_COMMIT = 'v2\n{"nextBatchWatermarkMs":0}'
"""What Spark's commit log says of a batch without state."""
_OTHERWISE = "Restore the checkpoint from a backup, or start over with a new one and new outputs."


def put_in_order(
    storage: "Storage", logs: QueryLogs, manifests: ManifestStore, *, real_time: bool, replay_last: bool
) -> list[Note]:
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
        If another trigger has left a batch that is not over, or the newest batch is asked for again, which nobody can compute.
    TornCheckpoint
        If the newest manifest is torn.
    """
    marker = Marker(storage, manifests.checkpoint)
    marked = marker.is_there
    if not (real_time or marked):
        return []
    if replay_last:
        raise not_again(manifests.checkpoint)
    notes = take_back(storage, logs, manifests, marked=marked)
    if not real_time:
        marker.remove()
    return notes


def take_back(storage: "Storage", logs: QueryLogs, manifests: ManifestStore, *, marked: bool) -> list[Note]:
    """Takes back Spark's log of each batch behind the newest manifest, so that its records are read again; says what it did.

    The manifest of a real-time batch is written behind Spark's commit. Its rows are in the topic then, but what it has rejected is
    published by the manifest. So the manifest says where Spark goes on: it did not go beyond what is accounted for.

    Parameters
    ----------
    marked
        Whether the newest batch was of this trigger.
    """
    accounted = max(manifests.batches(), default=-1)
    if accounted >= 0 and not marked and not logs.committed(accounted):
        raise CheckpointError(
            f"Batch {accounted} of {manifests.checkpoint} is under way: another trigger than real-time has planned it.",
            required="A batch that is not over is done again as it was planned, and a batch of the real-time trigger is not planned.",
            remedy='Run the job once with trigger = "available-now", then with this one.',
        )
    notes = _as_accounted(storage, logs, manifests, accounted) if accounted >= 0 and marked else []
    logged = {log: [batch for batch in logs.batches(log) if batch > accounted] for log in ("commits", "offsets")}
    for log, batches in logged.items():
        for batch in batches[::-1]:
            _delete(storage, f"{manifests.checkpoint}/{log}", batch)
    if not logged["commits"]:
        return notes
    said = (
        f"The run before ended between the commit of batch {logged['commits'][0]} and its account: its records are read again, "
        "and are in the topic twice."
    )
    return [*notes, Note(NoteCode.BATCH_TAKEN_BACK, said)]


def _as_accounted(storage: "Storage", logs: QueryLogs, manifests: ManifestStore, batch: int) -> list[Note]:
    """Lets Spark's logs say of the newest batch what its manifest says: another driver, or Spark's own clearing, may have changed them."""
    manifest = manifests.whole(batch)
    if manifest is None:
        raise TornCheckpoint(
            f"The manifest {manifests.path(batch)} is torn.",
            required="It holds the account, and says how far the records of the topic are accounted for. The trigger was real-time.",
            remedy=_OTHERWISE,
        )
    notes, folder = list[Note](), f"{manifests.checkpoint}/offsets"
    found = storage.read(f"{folder}/{batch}")
    if found != manifest.offset_log:
        _delete(storage, folder, batch)
        storage.create_atomic(f"{folder}/{batch}", manifest.offset_log)
        what = "was missing" if found is None else "is not what is accounted for"
        notes.append(Note(NoteCode.RESTORED, f"{folder}/{batch} {what}, and is restored from the manifest."))
    if not logs.committed(batch):  # the manifest comes behind it
        storage.create_atomic(f"{manifests.checkpoint}/commits/{batch}", _COMMIT)
        notes.append(Note(NoteCode.RESTORED, f"{manifests.checkpoint}/commits/{batch} was missing, and is made again."))
    return notes


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


def _delete(storage: "Storage", folder: str, batch: int) -> None:
    storage.delete(f"{folder}/{batch}")
    storage.delete(f"{folder}/.{batch}.crc")
