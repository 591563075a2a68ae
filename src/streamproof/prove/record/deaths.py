"""Machine death (R20): a power failure also takes what was written but not yet forced to the disk."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from streamproof.core.phases import StepName
from streamproof.prove.record.images import Image, image
from streamproof.prove.record.paths import temporary
from streamproof.prove.record.tree import File


def machine_deaths(of: Image, *, depth: int = 1) -> list[Image]:
    """What is left of an image where the newest unsynced files are dropped, emptied, or cut to half.

    The newest files are those of the newest operation, several if it renamed a directory; then `+dropped` takes all of
    them and `+dropped-last` the one written last. With `depth` above 1 the same for each of the operations before it
    (`+dropped-2`, ...), one at a time: files do not reach the disk in the order in which they were written.
    An empty file cannot lose its content, so it is only dropped.
    """
    by_operation: defaultdict[int, list[str]] = defaultdict(list)
    for path, file in of.files.items():
        if not temporary(path) and not file.synced:
            by_operation[file.named].append(path)
    found: list[Image] = []
    for rank, operation in enumerate(sorted(by_operation, reverse=True)[:depth], start=1):
        paths = sorted(by_operation[operation], key=lambda path: (of.files[path].written, path))
        number = f"-{rank}" if rank > 1 else ""
        found.extend(_variants(of, paths, number))
        if len(paths) > 1:
            found.extend(_variants(of, paths[-1:], f"-last{number}"))
    return found


def deaths_of_several(of: Image) -> list[Image]:
    """What is left where two things that vouch for each other are lost at once, the newest of each that is not synced.

    Two manifests of one query; the rows of the newest batch of an output, with its manifest and without; the ledger of a batch and its manifest;
    the whole directory that was published last; the newest log (offsets or commits) and the newest state file; the plan of a batch and the list
    of its files. `+truncated-rows-and-manifest` has both cut to half.
    """
    unsynced = _unsynced(of)
    manifests = [path for path in unsynced if _MANIFEST.search(path)]
    rows = _of_newest_batch(unsynced, _ROWS)
    ledger, log = _of_newest_batch(unsynced, _LEDGER)[:1], [path for path in unsynced if _LOG.search(path)][:1]
    state = [path for path in unsynced if _STATE.search(path)][:1]
    planned, listed = ([path for path in unsynced if looks.search(path)][:1] for looks in (_PLAN, _LIST))
    pairs = {
        "rows": (rows, rows),
        "manifests": (manifests[:1], manifests[1:2]),
        "rows-and-manifest": (rows, manifests[:1]),
        "ledger-and-manifest": (ledger, manifests[:1]),
        "publication": (rows, [path for path in ledger if rows and _folder(path) == _folder(rows[0])]),
        "log-and-state": (log, state),
        "plan": (planned, listed),
    }
    both = {name: list(dict.fromkeys((*one, *other))) for name, (one, other) in pairs.items() if one and other}
    return [death for name, paths in both.items() for death in _variants(of, paths, f"-{name}")]


def deaths_of_staged(of: Image) -> list[Image]:
    """What is left where all that a batch has staged and not published is lost, and its manifest is not."""
    staged = [path for path in _unsynced(of) if _STAGED.search(path)]
    return list(_variants(of, staged, "-staged")) if staged else []


def _unsynced(of: Image) -> list[str]:
    """What a power failure can take, the newest first."""
    return sorted(
        (path for path, file in of.files.items() if not temporary(path) and not file.synced),
        key=lambda path: (of.files[path].named, of.files[path].written, path),
        reverse=True,
    )


_MANIFEST = re.compile(r"/_streamproof/manifests/\d+$")
_LOG = re.compile(r"/(?:offsets|commits)/\d+$")
_PLAN = re.compile(r"/offsets/\d+$")
_LIST = re.compile(r"/sources/\d+/\d+$")
_STAGED = re.compile(r"/_staging/\d+-[^/]+/[^/_.][^/]*$")
_STATE = re.compile(r"/state/\d+/\d+/(?:.+/)?\d+(?:_[^/]+)?\.(?:zip|changelog|delta|snapshot)$")
_ROWS = re.compile(r"^(?P<of>.+/(?:batch=|_staging/)\d+(?:-[^/]+)?)/[^/_.][^/]*$")
_LEDGER = re.compile(r"^(?P<of>.+/batch=\d+)/_ledger\.json$")


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _of_newest_batch(newest_first: list[str], looks: re.Pattern[str]) -> list[str]:
    """The files of this look in the directory that holds the newest of them."""
    found = [(matched["of"], path) for path in newest_first if (matched := looks.match(path)) is not None]
    return [path for folder, path in found if folder == found[0][0]]


def _variants(of: Image, paths: list[str], ending: str) -> Iterator[Image]:
    dropped = {path: file for path, file in of.files.items() if path not in paths}
    lost = tuple(sorted(paths))
    yield _changed(of, f"+dropped{ending}", dropped, lost)
    if any(of.files[path].size for path in paths):
        yield _changed(of, f"+emptied{ending}", _cut(of.files, paths, keep=0.0), lost)
        yield _changed(of, f"+truncated{ending}", _cut(of.files, paths, keep=0.5), lost)


def _cut(files: Mapping[str, File], paths: list[str], *, keep: float) -> dict[str, File]:
    return {path: replace(file, length=int(file.size * keep)) if path in paths else file for path, file in files.items()}


def _changed(of: Image, suffix: str, files: Mapping[str, File], lost: tuple[str, ...]) -> Image:
    cut = of.id.removeprefix(str(of.step))
    step: StepName = of.step
    return replace(image(step, cut + suffix, files, background=of.background), lost=lost)
