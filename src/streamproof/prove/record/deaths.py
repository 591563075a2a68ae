"""Machine death (R20): a power failure also takes what was written but not yet forced to the disk."""

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


def _variants(of: Image, paths: list[str], ending: str) -> Iterator[Image]:
    dropped = {path: file for path, file in of.files.items() if path not in paths}
    yield _changed(of, f"+dropped{ending}", dropped)
    if any(of.files[path].size for path in paths):
        yield _changed(of, f"+emptied{ending}", _cut(of.files, paths, keep=0.0))
        yield _changed(of, f"+truncated{ending}", _cut(of.files, paths, keep=0.5))


def _cut(files: Mapping[str, File], paths: list[str], *, keep: float) -> dict[str, File]:
    return {path: replace(file, length=int(file.size * keep)) if path in paths else file for path, file in files.items()}


def _changed(of: Image, suffix: str, files: Mapping[str, File]) -> Image:
    cut = of.id.removeprefix(str(of.step))
    step: StepName = of.step
    return image(step, cut + suffix, files, background=of.background)
