"""Which Spark wrote a checkpoint, and may the Spark that runs now go on there (R25)."""

from contextlib import suppress

from streamproof import _jvm
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import TornCheckpoint, WrongCheckpoint
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.spark.session import ROCKSDB_OF_WINDOWS, STATE_STORES
from streamproof.stream.identity import SPARK


def require_readable(manifests: ManifestStore, logs: QueryLogs, version: str) -> list[Note]:
    """WrongCheckpoint if this Spark cannot read a checkpoint; a note where an older one wrote it.

    Spark reads the state, logs and settings of the versions before it. What a later one writes it may not know, or take for something else.
    Patch versions of one minor version are alike. Spark 4.0 does not write down that its state has format 2, so that later ones take it for
    format 1, and cannot load it.

    Parameters
    ----------
    version
        Of the Spark that runs now, such as "4.2.1".
    """
    newest = next(manifests.newest_first(), None)
    before = newest.made_by.get(SPARK, "") if newest is not None else ""
    if newest is None or not before:
        store = _state_store(logs)
        if store == ROCKSDB_OF_WINDOWS and not _jvm.knows_ends_of_windows(version):
            raise _newer(
                manifests.checkpoint, f"{_jvm.FIRST_WITH_ENDS_OF_WINDOWS} or later", _jvm.FIRST_WITH_ENDS_OF_WINDOWS, version
            )
        return []
    if _jvm.numbers(before) > _jvm.numbers(version):
        where = f"{manifests.checkpoint} (batch {newest.batch})"
        raise _newer(where, before, _jvm.minor_version(before), version)
    if _jvm.names_state_format(version) and not _jvm.names_state_format(before) and logs.newest_state_ids():
        raise _unread(f"{manifests.checkpoint} (batch {newest.batch})", before, version)
    if _jvm.numbers(before) < _jvm.numbers(version):
        said = (
            f"Spark {before} wrote {manifests.checkpoint} up to batch {newest.batch}; Spark {version} goes on there. "
            f"After its first batch the checkpoint is not read by Spark {_jvm.minor_version(before)} any more."
        )
        return [Note(NoteCode.NEWER_SPARK, said)]
    return []


def _state_store(logs: QueryLogs) -> str:
    """The class of state stores that the newest planned batch names; "" where no batch says so. A torn log is for recovery to mend."""
    planned = logs.batches("offsets")
    with suppress(TornCheckpoint):
        found = logs.offsets(planned[-1]) if planned else None
        return found[1].settings.get(STATE_STORES, "") if found is not None else ""
    return ""


def _newer(where: str, before: str, minor: str, version: str) -> WrongCheckpoint:
    return WrongCheckpoint(
        f"Spark {before} wrote the checkpoint {where}; this is Spark {version}.",
        required="Spark reads what older versions wrote. What a newer one writes into state and logs it may not know, or take for something else.",
        remedy=f"Run the job with Spark {minor} (pip install 'pyspark=={minor}.*'), or start over with a new checkpoint and new outputs.",
    )


def _unread(where: str, before: str, version: str) -> WrongCheckpoint:
    minor = _jvm.minor_version(before)
    return WrongCheckpoint(
        f"Spark {before} wrote the state in the checkpoint {where}; this is Spark {version}.",
        required=f"Spark {minor} does not write down that its state has checkpoint format 2. A later Spark takes it for format 1, and cannot load it.",
        remedy=f"Run the job with Spark {minor} (pip install 'pyspark=={minor}.*'), or start over with a new checkpoint and new outputs.",
    )
