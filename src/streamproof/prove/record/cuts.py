"""Consistent cuts that are no prefix (R19): tasks that ran side by side, each ahead of the others, and a background that lags."""

from collections import defaultdict
from collections.abc import Iterator

from streamproof.core.phases import Phase, Side
from streamproof.prove.record.images import Image, image
from streamproof.prove.record.journal import Operation
from streamproof.prove.record.steps import Timeline
from streamproof.prove.record.tree import File, Tree


def cuts(timeline: Timeline) -> list[Image]:
    """Per batch and group of concurrent tasks: none, each alone, all but one, all; the background lagging; a delete half done.

    Not merged, neither among themselves nor with the prefixes: see `images.without`.
    """
    return [*_tasks(timeline), *_checksums(timeline), *_lagging(timeline), *_half_deleted(timeline)]


def _tasks(timeline: Timeline) -> Iterator[Image]:
    groups: defaultdict[tuple[str, int, str], defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for position, act in enumerate(timeline.acts):
        if act.unit is not None:
            groups[act.unit.group][act.unit.partition].append(position)
    steps = {step.position: step for step in timeline.steps}
    for partitions in groups.values():
        last = {
            partition: steps[max(own)]
            for partition, positions in partitions.items()
            if (own := [position for position in positions if position in steps])
        }
        if not last:
            continue
        first = min(min(positions) for positions in partitions.values())
        everyone = {position for positions in partitions.values() for position in positions}
        ending = max(last.values(), key=lambda step: step.position)
        opening = min((step for step in timeline.steps if step.position >= first), key=lambda step: step.position)
        yield image(opening.name(Side.BEFORE), "+none", _files(timeline, first, set()))
        yield image(ending.name(Side.AFTER), "+all", _files(timeline, first, everyone))
        if len(last) < 2:
            continue
        for partition, step in last.items():
            mine = set(partitions[partition])
            yield image(step.name(Side.AFTER), f"+alone-{partition}", _files(timeline, first, mine))
            yield image(step.name(Side.BEFORE), f"+without-{partition}", _files(timeline, first, everyone - mine))


def _checksums(timeline: Timeline) -> Iterator[Image]:
    """Checksum and state file are renamed by two threads; the canonical order has the file first, this cut the checksum."""
    positions = {step.act.entry.target: step for step in timeline.steps if step.phase is Phase.WORK}
    for target, step in positions.items():
        twin = positions.get(target.removesuffix(".crc")) if target.endswith(".crc") else None
        if twin is not None and twin.position < step.position:
            yield image(step.name(Side.AFTER), "+first", _files(timeline, twin.position, {step.position}))


def _lagging(timeline: Timeline) -> Iterator[Image]:
    """At each commit, the disk without what the background has done since the commit before."""
    since = 0
    for step in timeline.steps:
        if step.phase is not Phase.COMMIT:
            continue
        behind = {position for position in range(since, step.position) if timeline.acts[position].background}
        if behind:
            kept = [position for position in range(step.position + 1) if position not in behind]
            files = Tree.after(timeline.entries(kept)).snapshot()
            yield image(step.name(Side.AFTER), "+background-late", files, background=True)
        since = step.position + 1


def _half_deleted(timeline: Timeline) -> Iterator[Image]:
    """A directory is deleted file by file: the first half gone, in order of their names."""
    for step in timeline.steps:
        if step.act.entry.operation is not Operation.DELETE or step.files < 2:
            continue
        tree = Tree.after(timeline.entries(range(step.position)))
        doomed = tree.below(step.act.entry.path)
        for path in doomed[: len(doomed) // 2]:
            del tree.files[path]
        yield image(step.name(Side.BEFORE), "+half", tree.snapshot(), background=step.act.background)


def _files(timeline: Timeline, first: int, chosen: set[int]) -> dict[str, File]:
    """The disk after everything before position `first`, and then the chosen acts in their order."""
    positions = [*range(first), *sorted(chosen)]
    return Tree.after(timeline.entries(positions)).snapshot()
