"""Before anything of a job is mended, published or removed: are the formats of what earlier runs have left known (R30)."""

from contextlib import suppress
from typing import TYPE_CHECKING

from streamproof.errors import TornCheckpoint
from streamproof.runtime.losses import Losses
from streamproof.runtime.manifests import ManifestStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof._jvm import Storage
    from streamproof.runtime.binding import BoundJob


def require_known(bound: "BoundJob", spark: "SparkSession", storage: "Storage") -> None:
    """UnknownFormat if one is not: of any query, so that none begins before another is refused.

    Looked at are incarnations, manifests, accepted losses, and of outputs in folders the newest ledger; how many there are grows with history.
    Older ledgers, and those of services, are read by the rules that need them.
    """
    for query in bound.outputs.main:
        manifests = ManifestStore(storage, bound.checkpoint(query))
        manifests.require_known()
        Losses(storage, manifests.checkpoint)
    for output, place in bound.places.items():
        if place.connector == "files":
            with suppress(TornCheckpoint):
                bound.sink(output, spark, storage).owner()
