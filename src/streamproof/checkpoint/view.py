"""A checkpoint as Spark's state reader has to see it: where a file would lead it astray, a folder of links with that file written anew.

- `transformWithState` writes down where the schema of its state lies, with the whole path. Where the checkpoint was moved or copied, the reader would
  find nothing, or another checkpoint's schema.
- Spark before 4.0 writes no metadata of operators. They say how many columns of a key RocksDB finds its rows by, and without that the reader takes the keys of
  session windows for something else.
- The offset log names the class of the state stores. A class of ours may not be there, and its files are Spark's.
"""

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from streamproof.checkpoint.folder import OFFSETS, STATE, list_names, read_text
from streamproof.checkpoint.inspection import STORES, Inspection
from streamproof.checkpoint.stores import DEFAULT, Operator
from streamproof.errors import DiskFull

SESSIONS = "sessionWindowStateStoreSaveExec"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_METADATA, _PATHS = "_metadata", "stateSchemaFilePaths"


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for what is made to read a checkpoint; it is removed afterwards.

    Raises
    ------
    DiskFull
        If there is no room in it.
    """
    try:
        with TemporaryDirectory(prefix="streamproof-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    except OSError as problem:
        if problem.errno not in _FULL:
            raise
        raise no_room() from problem


def no_room() -> DiskFull:
    """The error where there is no room for what is unpacked to read a state, in one place."""
    return DiskFull(
        "The disk is full that temporary files are on: the state could not be read.",
        required="Spark unpacks the state of a partition there before it reads it. Nothing was changed.",
        remedy="Make room, or name another folder: TMPDIR for Python, SPARK_LOCAL_DIRS for Spark.",
    )


def view_of(found: Inspection, batch: int | None, stores: str, links: Path) -> Path:
    """The checkpoint itself where it can be read in its place; else a folder of links to it, made at `links`, with the files that have to differ.

    Parameters
    ----------
    batch
        After which the state is read.
    stores
        The class of state stores that reads it; "" where the one that the checkpoint names does.
    """
    checkpoint = found.path.absolute()
    changes = dict(_changes(checkpoint, found, batch, stores, links))
    if not changes:
        return checkpoint
    _link(checkpoint, links, changes)
    return links


def _changes(checkpoint: Path, found: Inspection, batch: int | None, stores: str, links: Path) -> Iterator[tuple[str, str]]:
    """By path below the checkpoint the text of each file that is written anew."""
    if any(_elsewhere(checkpoint, operator) for operator in found.operators):
        for operator in found.operators:
            for name in list_names(_versions(checkpoint, operator)):
                text = read_text(_versions(checkpoint, operator) / name) or ""
                there = links / STATE / str(operator.number)
                yield f"{STATE}/{operator.number}/{_METADATA}/v2/{name}", _with_paths_at(text, there)
    for operator in found.operators:
        if operator.name == SESSIONS and not list_names(checkpoint / STATE / str(operator.number) / _METADATA):
            yield f"{STATE}/{operator.number}/{_METADATA}/metadata", _metadata_of_sessions(operator)
    planned = read_text(checkpoint / OFFSETS / str(batch)) if batch is not None and stores else None
    if planned is not None and found.settings.get(STORES, stores) != stores:
        yield f"{OFFSETS}/{batch}", _with_stores(planned, stores)


def _link(folder: Path, links: Path, changes: Mapping[str, str]) -> None:
    """Links to all in a folder, but for the files that are written anew and the folders on the way to them."""
    links.mkdir(parents=True)
    below: dict[str, dict[str, str]] = {}
    for path, text in changes.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[rest] = text
        else:
            (links / name).write_text(text, encoding="utf-8")
    for name in list_names(folder):
        if name not in below and name not in changes:
            (links / name).symlink_to(folder / name)
    for name, inner in below.items():
        _link(folder / name, links / name, inner)


def _versions(checkpoint: Path, operator: Operator) -> Path:
    return checkpoint / STATE / str(operator.number) / _METADATA / "v2"


def _elsewhere(checkpoint: Path, operator: Operator) -> bool:
    here = str(checkpoint / STATE / str(operator.number))
    versions = _versions(checkpoint, operator)
    return any(
        not path.removeprefix("file://").removeprefix("file:").startswith(here)
        for name in list_names(versions)
        for path in _paths_in(read_text(versions / name) or "")
    )


def _paths_in(text: str) -> list[str]:
    try:
        found = json.loads(text.partition("\n")[2])
        return [one for store in found["stateStoreInfo"] for one in store.get(_PATHS, ())]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []


def _with_paths_at(text: str, operator: Path) -> str:
    """The metadata of an operator with the paths of its schemas below another folder of the operator, whose name is its number."""
    for path in _paths_in(text):
        inside = path.rpartition(f"/{STATE}/{operator.name}/")[2]
        text = text.replace(json.dumps(path), json.dumps(f"file:{operator / inside}"))
    return text


def _metadata_of_sessions(operator: Operator) -> str:
    """As Spark 4.0 writes it: rows are found by the group, which is all of the key but the start of the session at its end."""
    columns = max((len(schema.key) for schema in operator.schemas), default=1)
    partitions = len({store.partition for store in operator.stores})
    store = {"storeName": DEFAULT, "numColsPrefixKey": columns - 1, "numPartitions": partitions}
    info = {"operatorId": operator.number, "operatorName": operator.name}
    return f"v1\n{json.dumps({'operatorInfo': info, 'stateStoreInfo': [store]}, separators=(',', ':'))}"


def _with_stores(planned: str, stores: str) -> str:
    version, metadata, *sources = planned.split("\n")
    said = json.loads(metadata)
    said["conf"] = {**said.get("conf", {}), STORES: stores}
    return "\n".join([version, json.dumps(said, separators=(",", ":")), *sources])
