"""A checkpoint that was moved or copied, as links: `transformWithState` writes down where the schema of its state lies, with the whole path.

Spark's state reader goes by that path, and would find nothing, or another checkpoint's schema.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from streamproof.checkpoint.folder import STATE, list_names, read_text
from streamproof.checkpoint.stores import Operator

_METADATA, _PATHS = "_metadata", "stateSchemaFilePaths"


def moved(checkpoint: Path, operators: Iterable[Operator], links: Path) -> Path:
    """The checkpoint itself where it can be read in its place; else a folder of links to it, made at `links`, whose metadata name its present place."""
    if not any(_elsewhere(checkpoint, operator) for operator in operators):
        return checkpoint
    links.mkdir(parents=True)
    for name in list_names(checkpoint):
        if name != STATE:
            (links / name).symlink_to(checkpoint / name)
    for name in list_names(checkpoint / STATE):
        _link_operator(checkpoint / STATE / name, links / STATE / name)
    return links


def _elsewhere(checkpoint: Path, operator: Operator) -> bool:
    folder = checkpoint / STATE / str(operator.number)
    here = str(folder)
    return any(
        not path.removeprefix("file://").removeprefix("file:").startswith(here)
        for name in list_names(folder / _METADATA / "v2")
        for path in _paths_in(read_text(folder / _METADATA / "v2" / name) or "")
    )


def _paths_in(text: str) -> list[str]:
    try:
        found = json.loads(text.partition("\n")[2])
        return [one for store in found["stateStoreInfo"] for one in store.get(_PATHS, ())]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []


def _link_operator(operator: Path, links: Path) -> None:
    versions = operator / _METADATA / "v2"
    if not versions.is_dir():
        links.parent.mkdir(parents=True, exist_ok=True)
        links.symlink_to(operator)
        return
    links.mkdir(parents=True)
    for name in list_names(operator):
        if name != _METADATA:
            (links / name).symlink_to(operator / name)
    (links / _METADATA / "v2").mkdir(parents=True)
    for name in list_names(versions):
        text = _with_paths_at((versions / name).read_text(encoding="utf-8"), links)
        (links / _METADATA / "v2" / name).write_text(text, encoding="utf-8")


def _with_paths_at(text: str, operator: Path) -> str:
    """The metadata of an operator with the paths of its schemas below another folder of the operator, whose name is its number."""
    for path in _paths_in(text):
        inside = path.rpartition(f"/{STATE}/{operator.name}/")[2]
        text = text.replace(json.dumps(path), json.dumps(f"file:{operator / inside}"))
    return text
