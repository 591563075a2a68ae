"""The place that a text names: a folder, or a URI of a store."""

from pathlib import Path

from streamproof.config.backup import wrong_with_store
from streamproof.config.places import is_remote
from streamproof.errors import ConfigurationError
from streamproof.savepoints.in_folder import InFolder
from streamproof.savepoints.in_store import InStore
from streamproof.savepoints.place import Place
from streamproof.savepoints.store import Store


def place_at(where: str | Path, *, endpoint: str | None = None, region: str | None = None) -> Place:
    """The place for the backups of one checkpoint; nothing is asked of a store yet.

    Raises
    ------
    ConfigurationError
        If it is no address of a store that backups can go to, or has credentials in it.
    """
    text = str(where)
    if isinstance(where, Path) or not is_remote(text):
        return InFolder(Path(text.removeprefix("file://").removeprefix("file:")))
    wrong = wrong_with_store(text, endpoint)
    if wrong is not None:
        found, required, remedy = wrong
        raise ConfigurationError(found, required=required, remedy=remedy)
    return InStore(Store(text, endpoint=endpoint, region=region))


def place_below(where: str, name: str) -> str:
    """The address of a place in another one; what stands after "?" of a store's stays there."""
    base, mark, options = where.partition("?")
    return f"{base.rstrip('/')}/{name}{mark}{options}"
