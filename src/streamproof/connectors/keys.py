"""Keys of a sink: the columns of an output by which its store tells rows apart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamproof.connectors.sink import SinkPlace
from streamproof.stream.plan import column_error

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def require_key(place: SinkPlace, key: Sequence[str], columns: "StructType") -> None:
    """JobDefinitionError if a column of a sink's key is none of the output's."""
    for name in key:
        if name not in columns.names:
            raise column_error(f"[sink.{place.output}] key", name, columns.names)
