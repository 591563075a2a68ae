"""The source rate in a proof: files with its columns, since it would make rows of its own."""

from typing import TYPE_CHECKING

from streamproof.config import FilesSource
from streamproof.prove.sources.files import FilesInProof

if TYPE_CHECKING:
    from streamproof.config import RateSource


def rate_in_proof(name: str, source: "RateSource") -> FilesInProof:
    """What takes the place of a source of rows that Spark makes itself."""
    table = {"connector": "files", "path": "rate", "format": "parquet", "schema": source.schema_ddl}
    return FilesInProof(name, FilesSource.model_validate(table).model_copy(update={"event_time": source.event_time}))
