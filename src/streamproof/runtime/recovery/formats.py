"""Before anything of a job is mended, published or removed: are the formats of what earlier runs have left known (R30)."""

from contextlib import suppress
from typing import TYPE_CHECKING

from streamproof.errors import TornCheckpoint
from streamproof.runtime.binding.sinks import sink_of
from streamproof.runtime.journal.losses import Losses
from streamproof.runtime.journal.manifests import ManifestStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof._jvm import Storage
    from streamproof.connectors.sink import Sink
    from streamproof.runtime.binding.bound import BoundJob

_LOOK_BACK = 3
_ANY_BATCH = 2**62


def require_known(bound: "BoundJob", spark: "SparkSession", storage: "Storage") -> None:
    """UnknownFormat if one is not: of any query, so that none begins before another is refused.

    Looked at are all incarnations, manifests and accepted losses, and of outputs in folders the ledgers that a start reads: the oldest and the
    newest ones. How many lie between them grows with history; those, and the ledgers of services, are read by the rules that need them.
    """
    newest: set[int] = set()
    for query in bound.outputs.main:
        manifests = ManifestStore(storage, bound.checkpoint(query))
        manifests.require_known()
        Losses(storage, manifests.checkpoint)
        newest.update(manifests.batches()[-_LOOK_BACK:])
    for place in bound.places.values():
        if place.is_folder:
            _require_ledgers(sink_of(bound.config, place, spark, storage), newest)


def _require_ledgers(sink: "Sink", batches: set[int]) -> None:
    there = sink.counted(_ANY_BATCH)
    for batch in sorted({there.oldest, there.newest, *batches}):
        with suppress(TornCheckpoint):  # whoever needs it says what to do
            sink.published(batch)
