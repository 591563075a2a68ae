"""What a job of ours keeps beside Spark's files: whose checkpoint it is, the manifests, and which batches wait for which output."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamproof.checkpoint.folder import list_names, read_text
from streamproof.core.incarnation import Incarnation
from streamproof.core.manifest import Manifest

FOLDER = "_streamproof"
AHEAD = "ahead"
"""Below it: the manifests of batches that are done again as they were planned, after the checkpoint was restored (`runtime/as_planned.py`)."""
_OF_FILES = "files"
_LEDGER = "_ledger.json"


@dataclass(frozen=True)
class Waiting:
    """What waits for an output.

    Parameters
    ----------
    connector, place
        How it is written, and where, as the newest manifest says.
    batches
        Those that are staged and not published, oldest first; None where only the store can say it.
    published
        The newest batch with rows that is published; None where there is none, or only the store can say it.
    """

    output: str
    connector: str
    place: str
    batches: tuple[int, ...] | None
    published: int | None


@dataclass(frozen=True)
class Own:
    """What a job of ours says of its checkpoint.

    Parameters
    ----------
    identity
        Whose checkpoint it is; None where the file is gone or torn.
    manifests
        By batch, those that are whole.
    torn
        By file, relative to the checkpoint, what is wrong with it.
    """

    identity: Incarnation | None
    manifests: Mapping[int, Manifest]
    torn: Mapping[str, str]
    waiting: tuple[Waiting, ...]

    @property
    def newest(self) -> Manifest | None:
        return self.manifests[max(self.manifests)] if self.manifests else None


def read_own(checkpoint: Path) -> Own | None:
    """What a job of ours has left in a checkpoint; None where none has written it.

    Raises
    ------
    UnknownFormat
        If a manifest or the incarnation is of a format that this version does not know (R30).
    """
    folder = checkpoint / FOLDER
    if not folder.is_dir():
        return None
    torn: dict[str, str] = {}
    identity: Incarnation | None = None
    where = f"{FOLDER}/incarnation.json"
    text = read_text(checkpoint / where)
    try:
        identity = Incarnation.from_json(text or "", where=where)
    except ValueError:
        torn[where] = f"{where} is {'torn' if text is not None else 'gone'}."
    manifests: dict[int, Manifest] = {}
    for name in sorted((name for name in list_names(folder / "manifests") if name.isdigit()), key=int):
        where = f"{FOLDER}/manifests/{name}"
        try:
            manifests[int(name)] = Manifest.from_json(read_text(checkpoint / where) or "", where=where)
        except ValueError:
            torn[where] = f"{where} is torn."
    return Own(identity, manifests, torn, tuple(_waiting(checkpoint, manifests)))


def _waiting(checkpoint: Path, manifests: Mapping[int, Manifest]) -> list[Waiting]:
    if not manifests:
        return []
    newest = manifests[max(manifests)]
    found = []
    for output, place in newest.places.items():
        connector = newest.connectors.get(output, "")
        folder = Path(os.path.normpath(checkpoint.absolute() / place))
        named = any(manifest.section(output) is not None for manifest in manifests.values())
        if connector != _OF_FILES or not named or not folder.is_dir():
            found.append(Waiting(output, connector, place, None, None))
            continue
        left, published = [], None
        for number in sorted(manifests, reverse=True):
            section = manifests[number].section(output)
            if section is None or not section.digest.rows:
                continue
            if (folder / f"batch={number:06d}" / _LEDGER).is_file():
                published = number
                break
            left.append(number)
        found.append(Waiting(output, connector, place, tuple(left[::-1]), published))
    return found
