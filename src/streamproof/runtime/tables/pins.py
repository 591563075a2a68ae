"""Which version of each table a batch uses, written down before the batch begins its work (R32)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from streamproof.core.formats import Format, NotOfTheFormat
from streamproof.runtime.journal.manifests import FOLDER, ManifestStore

if TYPE_CHECKING:
    from streamproof._jvm import Storage

PINNED = "_pinned"
"""Beside the folders of the tables, none of which begins so."""
FORMAT = Format("a record of the tables of a batch")


class Pins:
    """The versions that the batches of one query use.

    The manifest of a batch says them too, once there is one: a file that is lost or torn is made up for by it.
    """

    def __init__(self, storage: "Storage", manifests: ManifestStore) -> None:
        self._storage, self._manifests = storage, manifests
        self._folder = f"{manifests.checkpoint}/{FOLDER}/tables/{PINNED}"

    def of(self, batch: int) -> Mapping[str, str]:
        """By table the version that a batch uses; none of a batch that nothing was fixed for.

        Raises
        ------
        UnknownFormat
            If the file is of a format that this version does not know (R30).
        """
        text = self._storage.read(f"{self._folder}/{batch}")
        if text:
            with suppress(ValueError):
                return from_json(text, where=f"{self._folder}/{batch}")
        manifest = self._manifests.whole(batch)
        return manifest.fingerprint.tables if manifest is not None else {}

    def fix(self, batch: int, versions: Mapping[str, str]) -> Mapping[str, str]:
        """Writes down what a batch uses, unless that is said already, by another driver perhaps; what stands. Nothing is computed before that."""
        path = f"{self._folder}/{batch}"
        if self._storage.create_atomic(path, to_json(versions)):
            return versions
        known = self.of(batch)  # nothing of a file that is torn, and not all where the job has a table more
        if all(name in known for name in versions):
            return known
        self._storage.replace_atomic(path, to_json({**versions, **known}))
        return {**versions, **known}

    def require_known(self) -> None:
        """UnknownFormat if any file is of a format that this version does not know (R30)."""
        for batch in self.batches():
            self.of(batch)

    def batches(self) -> list[int]:
        """The batches that have a file, ascending."""
        return sorted(int(name) for name in self._storage.names(self._folder) if name.isdigit())

    def remove(self, batch: int) -> None:
        self._storage.delete(f"{self._folder}/{batch}")


def to_json(versions: Mapping[str, str]) -> str:
    return FORMAT.text({"tables": dict(versions)})


def from_json(text: str, *, where: str = "") -> Mapping[str, str]:
    """What a batch uses.

    Raises
    ------
    ValueError
        If the text is torn.
    UnknownFormat
        If it is whole, and of a format that this version does not know (R30).
    """
    return FORMAT.read(text, where, _made)


def _made(found: dict[str, Any]) -> Mapping[str, str]:
    if others := set(found) - {"tables"}:
        raise NotOfTheFormat(f'with the key "{min(others)}", which is not part of it')
    return {str(name): str(version) for name, version in found["tables"].items()}
