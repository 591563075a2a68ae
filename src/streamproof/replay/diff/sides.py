"""A side of a comparison: which outputs it has, and of each which files are its rows.

A published output of ours is read by its ledgers: a batch counts if `_ledger.json` lies in its directory, and of it the files that the ledger
names. What is staged, or was left by a crash, does not. Other folders are read as Spark reads them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamproof.config import load
from streamproof.core.manifest import LedgerEntry
from streamproof.core.paths import display
from streamproof.errors import ConfigurationError
from streamproof.replay.diff.folders import Folders, shown_names

CONFIGURATION = "streamproof.toml"
FORMATS: Mapping[str, str] = {
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".avro": "avro",
}
_LEDGER = "_ledger.json"
_BATCH = re.compile(r"batch=\d+")
_PARTITION = re.compile(r"[^=]+=.*")
_PACKED = (".gz", ".bz2", ".zst", ".snappy", ".lz4", ".deflate")
_DEEP = 8
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class Rows:
    """The rows of one output.

    Parameters
    ----------
    place
        The folder or the file, as it was given or found.
    format
        "parquet", "json", "csv" or "avro"; of an output without a file "parquet".
    files
        The files to read; empty for a folder that is read as a whole.
    batches
        How many batches of ours are published in it; None where it is no output of ours.
    left
        Batches without a ledger, which are not published.
    """

    place: str
    format: str
    files: tuple[str, ...] = ()
    batches: int | None = None
    left: int = 0


def is_remote(path: str) -> bool:
    """Whether a path names a store that is not the disk of this machine."""
    return bool(_REMOTE.match(path)) and not path.startswith("file:")


def local(path: str) -> str:
    """A path on this machine as Spark takes it, wherever its JVM was started; a URI of a store stays as it is."""
    return path if is_remote(path) else str(Path(path.removeprefix("file://").removeprefix("file:")).absolute())


def outputs_of(place: str, folders: Folders) -> dict[str, Rows]:
    """The outputs of a side, by name; one output alone has the name "".

    Parameters
    ----------
    place
        A published output, a folder of Parquet, JSON, CSV or Avro, one such file, a folder with several outputs in it, or the folder of a job.

    Raises
    ------
    ConfigurationError
        If it is none of these, or a published batch is not whole.
    """
    place = (place if is_remote(place) else place.removeprefix("file://").removeprefix("file:")).rstrip("/") or "/"
    names = folders.list(place)
    if not names:
        return {"": _file(place, folders)}
    if CONFIGURATION in names and not is_remote(place):
        return _of_job(place, folders)
    one = _rows(place, names, folders)
    if one is not None:
        return {"": one}
    found: dict[str, Rows] = {}
    for name, size in shown_names(names).items():
        inner = f"{place}/{name}"
        rows = _rows(inner, folders.list(inner), folders) if size < 0 else None
        if rows is not None:
            found[name] = rows
    if not found:
        raise _nothing(place)
    return found


def _of_job(place: str, folders: Folders) -> dict[str, Rows]:
    config = load(place)
    found: dict[str, Rows] = {}
    for name, sink in config.sink.items():
        if sink.folder is None:
            continue
        path = config.resolve(sink.folder.path)
        rows = None if config.is_remote(path) else _rows(path, folders.list(path), folders)
        if rows is not None:
            found[name] = rows
    if not found:
        raise ConfigurationError(
            f"The job in {place} has published nothing to files.",
            required="A side is a folder that holds rows; of a job its outputs with connector files are compared.",
            remedy=f"Run it first: streamproof run {place}",
        )
    return found


def _rows(place: str, names: Mapping[str, int], folders: Folders) -> Rows | None:
    """The rows of one output; None where the folder holds none by itself."""
    batches = [name for name, size in names.items() if size < 0 and _BATCH.fullmatch(name)]
    if batches and any(folders.read(f"{place}/{name}/{_LEDGER}") is not None for name in batches):
        return _published(place, batches, folders)
    formats = _formats_in(place, names, folders, _DEEP)
    if len(formats) > 1:
        raise ConfigurationError(
            f"{_named(place)} holds files of {' and of '.join(sorted(formats))}.",
            required="The rows of one output have one format.",
            remedy="Put each format into a folder of its own.",
        )
    return Rows(place, formats.pop()) if formats else None


def _published(place: str, batches: Sequence[str], folders: Folders) -> Rows:
    files: list[str] = []
    left = 0
    for name in sorted(batches):
        directory = f"{place}/{name}"
        text = folders.read(f"{directory}/{_LEDGER}")
        if text is None:
            left += 1
            continue
        files += _of_batch(directory, text, folders)
    formats = {_format_of_rows(file) for file in files}
    if len(formats) > 1:
        raise ConfigurationError(
            f"{_named(place)} holds batches of {' and of '.join(sorted(formats))}.", required="An output has one format."
        )
    return Rows(place, formats.pop() if formats else "parquet", tuple(files), len(batches) - left, left)


def _of_batch(directory: str, ledger: str, folders: Folders) -> list[str]:
    """The files of a published batch: those that its ledger names, or, where its owner has rewritten them, those that are there."""
    try:
        entry = LedgerEntry.from_json(ledger, where=f"{directory}/{_LEDGER}")
    except ValueError as problem:
        raise ConfigurationError(
            f"{directory}/{_LEDGER} is {problem}.",
            required="It says what the batch has published.",
            remedy="Start the job once: it mends what a power failure has torn, or says what to do.",
        ) from None
    there = shown_names(folders.list(directory))
    named = {file.name: file.size for file in entry.files}
    if not named or there.keys() - named.keys():
        return [f"{directory}/{name}" for name, size in there.items() if size >= 0]
    for name, size in named.items():
        if there.get(name) != size:
            found = "it is gone" if name not in there else f"it has {there[name]:,} bytes"
            raise ConfigurationError(
                f"The file {directory}/{name} is not whole: {found}.",
                required=f"The ledger of the batch names it with {size:,} bytes.",
                remedy="Bring it back from a backup, or start the job once: it says what to do.",
            )
    return [f"{directory}/{name}" for name in named]


def _formats_in(place: str, names: Mapping[str, int], folders: Folders, deep: int) -> set[str]:
    """The formats of the files in a folder, and in the folders of its partitions ("day=2026-01-05")."""
    found: set[str] = set()
    for name, size in shown_names(names).items():
        if size >= 0:
            format_ = _format(name)
            found |= {format_} if format_ else set()
        elif deep and _PARTITION.fullmatch(name):
            found |= _formats_in(f"{place}/{name}", folders.list(f"{place}/{name}"), folders, deep - 1)
    return found


def _format(name: str) -> str | None:
    path = Path(name)
    return FORMATS.get((path.with_suffix("") if path.suffix in _PACKED else path).suffix.lower())


def _format_of_rows(file: str) -> str:
    """The format of a file of a published batch, whose rows count: one that nothing is known of is no file to leave out."""
    found = _format(file)
    if found is None:
        raise ConfigurationError(
            f"The file {file} lies in a published batch, and is no file of Parquet, JSON, CSV or Avro by its name.",
            required=f"A file of rows ends with one of {', '.join(FORMATS)}.",
            remedy="If it holds no rows, move it out of the batch, or let its name begin with a dot.",
        )
    return found


def _file(place: str, folders: Folders) -> Rows:
    """A side that is one file."""
    parent, _, name = place.rpartition("/")
    is_there = name in folders.list(parent or ("/" if place.startswith("/") else "."))
    format_ = _format(name)
    if not is_there:
        raise ConfigurationError(
            f"There is no {_named(place)}.",
            required="A side is a folder with an output, or with files of Parquet, JSON, CSV or Avro.",
            remedy="Look at its name.",
        )
    if format_ is None or folders.list(parent or ("/" if place.startswith("/") else "."))[name] < 0:
        raise (
            _nothing(place)
            if format_ is None and not Path(name).suffix
            else ConfigurationError(
                f"{_named(place)} is no folder, and no file of Parquet, JSON, CSV or Avro by its name.",
                required=f"A file of rows ends with one of {', '.join(FORMATS)}.",
            )
        )
    return Rows(place, format_, (place,))


def _nothing(place: str) -> ConfigurationError:
    return ConfigurationError(
        f"{_named(place)} holds no rows: no published batch, and no file that ends with one of {', '.join(FORMATS)}.",
        required="A side is a folder with an output, a folder of such outputs, or the folder of a job.",
        remedy="Look at its name; an output that has never had a row has no folder to compare.",
    )


def _named(place: str) -> str:
    return place if is_remote(place) else display(Path(place))
