"""What a crash has left of a real-time query: batches that Spark has committed, and nobody has accounted for."""

from typing import TYPE_CHECKING

from streamproof.core.notes import Note, NoteCode
from streamproof.errors import CheckpointError
from streamproof.runtime.logs import QueryLogs
from streamproof.runtime.manifests import ManifestStore

if TYPE_CHECKING:
    from streamproof._jvm import Storage


def take_back(storage: "Storage", logs: QueryLogs, manifests: ManifestStore) -> list[Note]:
    """Takes back Spark's log of each batch behind the newest manifest, so that its records are read again; says what it did.

    The manifest of a real-time batch is written behind Spark's commit. Its rows are in the topic then, but what it has rejected is
    published by the manifest.

    Raises
    ------
    CheckpointError
        If another trigger has left a batch that is not over: it has to be done again as it was planned.
    """
    accounted = max(manifests.batches(), default=-1)
    if accounted >= 0 and not logs.committed(accounted):
        raise CheckpointError(
            f"Batch {accounted} of {manifests.checkpoint} is under way: another trigger than real-time has planned it.",
            required="A batch that is not over is done again as it was planned, and a batch of the real-time trigger is not planned.",
            remedy='Run the job once with trigger = "available-now", then with this one.',
        )
    behind = [batch for batch in logs.batches("offsets") if batch > accounted]
    committed = [batch for batch in behind if logs.committed(batch)]
    for log in ("commits", "offsets"):
        for batch in behind[::-1]:
            storage.delete(f"{manifests.checkpoint}/{log}/{batch}")
            storage.delete(f"{manifests.checkpoint}/{log}/.{batch}.crc")
    if not committed:
        return []
    said = (
        f"The run before ended between the commit of batch {committed[0]} and its account: its records are read again, "
        "and are in the topic twice."
    )
    return [Note(NoteCode.BATCH_TAKEN_BACK, said)]
