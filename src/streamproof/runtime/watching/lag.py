"""How far a job has read its sources, and how much is left (S3)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamproof.core.notes import Note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.connectors.lag import PartitionLag
    from streamproof.connectors.source import Source
    from streamproof.core.manifest import Manifest


def lag_of(
    spark: "SparkSession", sources: "Iterable[Source]", newest: Iterable["Manifest"], notes: list[Note]
) -> "list[PartitionLag]":
    """The lag of each partition of the sources that have one; where nobody answers, a note says so.

    Parameters
    ----------
    newest
        The newest manifest of each query that reads one of the sources.
    """
    read_to = [offsets for manifest in newest for offsets in manifest.fingerprint.offsets if offsets != "-"]
    found: list[PartitionLag] = []
    for source in sources:
        told = source.lag(spark, read_to)
        if isinstance(told, Note):
            notes.append(told)
        else:
            found += told
    return found
