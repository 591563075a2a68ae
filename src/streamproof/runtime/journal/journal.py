"""What is written down about a query beside its rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.journal.manifests import ManifestStore

if TYPE_CHECKING:
    from streamproof._jvm import Storage


@dataclass(frozen=True)
class Journal:
    """The journal of one query: our manifests and Spark's logs, and the storage that they lie in."""

    storage: "Storage"
    manifests: ManifestStore
    logs: QueryLogs
