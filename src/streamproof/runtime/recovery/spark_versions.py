"""Which Spark wrote a checkpoint, and may the Spark that runs now go on there (R25)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from streamproof import _jvm
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import WrongCheckpoint
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.spark.session import ROCKSDB, ROCKSDB_EVICTING, ROCKSDB_IDENTIFIED, STATE_STORES
from streamproof.stream.identity import SPARK

_WITH_STORES = {ROCKSDB_EVICTING: _jvm.FIRST_WITH_OUR_STATE_STORES, ROCKSDB_IDENTIFIED: "4.0"}
_AFTER_4_0 = "4.1"


@dataclass(frozen=True)
class _Wrote:
    """The Spark that wrote a checkpoint, as an error names it, its number, and up to where it is known to have written."""

    named: str
    number: str
    where: str
    up_to: str


def _nothing(_: str) -> bool:
    return False


def require_readable(
    manifests: ManifestStore, logs: QueryLogs, version: str, *, stores: str = "", knows: Callable[[str], bool] = _nothing
) -> list[Note]:
    """WrongCheckpoint if this Spark cannot read a checkpoint; a note where an older one wrote it.

    Spark reads the state, logs and settings of the versions before it. What a later one writes it may not know, or take for something else.
    Patch versions of one minor version are alike. Spark 4.0 does not write down that its state has format 2, so that later ones take it for
    format 1, and cannot load it.

    Parameters
    ----------
    version
        Of the Spark that runs now, such as "4.2.1".
    stores
        The class of state stores that it gives a new checkpoint.
    knows
        Whether it knows a setting.
    """
    by_manifest, settings = _by_manifest(manifests), logs.newest_settings() or {}
    number = _jvm.planned_by(settings, version, knows) or _by_stores(settings, stores if by_manifest is None else "")
    wrote = _latest(by_manifest, _by_offset_log(manifests.checkpoint, number, version))
    if wrote is None:
        return []
    if _jvm.numbers(wrote.number) > _jvm.numbers(version):
        raise _newer(wrote.where, wrote.named, _jvm.minor_version(wrote.number), version)
    if _jvm.names_state_format(version) and not _jvm.names_state_format(wrote.number) and logs.newest_state_ids():
        raise _unread(wrote.where, wrote.number, version)
    if _jvm.numbers(wrote.number) < _jvm.numbers(version):
        said = (
            f"Spark {wrote.number} wrote {manifests.checkpoint}{wrote.up_to}; Spark {version} goes on there. "
            f"After its first batch the checkpoint is not read by Spark {_jvm.minor_version(wrote.number)} any more."
        )
        return [Note(NoteCode.NEWER_SPARK, said)]
    return []


def _by_manifest(manifests: ManifestStore) -> _Wrote | None:
    """As the newest whole manifest says it, which older ones do not."""
    newest = next(manifests.newest_first(), None)
    before = newest.made_by.get(SPARK, "") if newest is not None else ""
    if newest is None or not before:
        return None
    return _Wrote(before, before, f"{manifests.checkpoint} (batch {newest.batch})", f" up to batch {newest.batch}")


def _by_offset_log(checkpoint: str, number: str, version: str) -> _Wrote | None:
    """As the newest offset log tells it, which Spark writes before anything else of a batch: it is there without a manifest too."""
    if not number:
        return None
    later = _jvm.numbers(number) > _jvm.numbers(version)
    return _Wrote(f"{number} or later" if later else number, number, checkpoint, "")


def _by_stores(settings: Mapping[str, str], stores: str) -> str:
    """The version that the class of state stores in an offset log tells; "" where it does not."""
    store = settings.get(STATE_STORES, "")
    if store == ROCKSDB and stores == ROCKSDB_IDENTIFIED:  # 4.0 plans with that class only where [spark] asks for it
        return _AFTER_4_0
    return _WITH_STORES.get(store, "")


def _latest(by_manifest: _Wrote | None, by_offset_log: _Wrote | None) -> _Wrote | None:
    """The later version of the two; where they are the same the manifest, which says it in full."""
    found = [one for one in (by_manifest, by_offset_log) if one is not None]
    return max(found, key=lambda one: _jvm.numbers(one.number), default=None)


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
