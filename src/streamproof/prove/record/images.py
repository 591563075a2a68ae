"""Crash images: every disk that a crash of the recorded run can leave behind, each planned once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from streamproof.core.phases import Side, StepName
from streamproof.prove.record.steps import Timeline
from streamproof.prove.record.tree import File, Tree, digest


@dataclass(frozen=True)
class Image:
    """One disk to recover from.

    Parameters
    ----------
    id
        The step, with what differs from a plain crash image: `work/state.0.1@3:after+alone-1`.
    step
        The step that the crash stands before or after.
    names
        Every id that means this disk, its own included: the step before which and after which it lies, and so on.
    files
        Path below the scenario's folder to content.
    digest
        Hash of the disk without its temporary files; two images with the same digest are the same image.
    background
        True if the step is one of Spark's maintenance.
    lost
        The files that a power failure took, whole or in part.
    """

    id: str
    step: StepName
    names: tuple[str, ...]
    files: Mapping[str, File] = field(repr=False)
    digest: str
    background: bool = False
    lost: tuple[str, ...] = ()


def prefixes(timeline: Timeline) -> list[Image]:
    """The disks before and after each step, in order, equal ones merged: the standard plan.

    Before a step that creates its file in place, the file is there and empty. If several disks are equal, the one with the most temporary files
    is taken. Its name is the step that it comes after, if there is one.
    """
    tree = Tree()
    found: list[Image] = []
    done = 0
    for step in timeline.steps:
        for entry in timeline.entries(range(done, step.position)):
            tree.apply(entry)
        found.append(image(step.name(Side.BEFORE), "", tree.snapshot(), background=step.act.background))
        tree.apply(step.act.entry)
        done = step.position + 1
        found.append(image(step.name(Side.AFTER), "", tree.snapshot(), background=step.act.background))
    return merged(found)


def image(step: StepName, suffix: str, files: Mapping[str, File], *, background: bool = False) -> Image:
    """An image that stands alone; `suffix` (with its plus sign) is what differs from a plain one."""
    name = f"{step}{suffix}"
    return Image(id=name, step=step, names=(name,), files=files, digest=digest(files), background=background)


def merged(images: Iterable[Image]) -> list[Image]:
    """Merges images with the same disk, in order of first appearance."""
    by_digest: dict[str, Image] = {}
    for new in images:
        old = by_digest.get(new.digest)
        by_digest[new.digest] = new if old is None else _one(old, new)
    return list(by_digest.values())


def without(images: Iterable[Image], known: Iterable[Image]) -> list[Image]:
    """The images whose disks are not among the known ones, equal ones merged."""
    seen = {one.digest for one in known}
    return merged(one for one in images if one.digest not in seen)


def _one(old: Image, new: Image) -> Image:
    leading = old if old.step.side is Side.AFTER or new.step.side is Side.BEFORE else new
    return replace(
        leading,
        names=tuple(dict.fromkeys((*old.names, *new.names))),
        files=max(old.files, new.files, key=len),
    )
