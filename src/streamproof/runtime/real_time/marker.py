"""A file beside the manifests: the batches that this checkpoint does next, or has done last, are of the real-time trigger."""

from typing import TYPE_CHECKING

from streamproof.runtime.journal.manifests import FOLDER

if TYPE_CHECKING:
    from streamproof._jvm import Storage


class Marker:
    """The file is there from the first start with this trigger until a start with another one.

    Only whether it is there counts. Nobody reads its text, so a power failure may tear it.
    """

    def __init__(self, storage: "Storage", checkpoint: str) -> None:
        self._storage, self._path = storage, f"{checkpoint}/{FOLDER}/real-time"

    @property
    def is_there(self) -> bool:
        return self._storage.exists(self._path)

    def put(self) -> None:
        """Before the stream starts."""
        self._storage.create_atomic(self._path, "Batches of the real-time trigger are accounted for after Spark's commit.\n")

    def remove(self) -> None:
        """Before another trigger plans a batch."""
        self._storage.delete(self._path)
