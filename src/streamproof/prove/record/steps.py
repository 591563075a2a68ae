"""The durable steps of a recorded run: who did each entry, in which order a cut may take them, and what the step is called."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from streamproof.core.phases import Phase, Side, StepName
from streamproof.prove.record.journal import Entry, Journal, Operation
from streamproof.prove.record.paths import Layout, Place, final, pattern, place, temporary
from streamproof.prove.record.tree import Tree

_BACKGROUND = re.compile(r"state-store-maintenance|async-log-purge")
_VERSION = re.compile(r"^(?P<folder>.*/)(?P<version>\d+)(?:_[^/]+)?\.(?P<kind>zip|changelog|delta|snapshot)(?:\.crc)?$")
_CHANGES, _SNAPSHOTS = ("changelog", "delta"), ("zip", "snapshot")
"""What a task writes of a version, and what maintenance writes of one that it has already: RocksDB's kind, and that of the HDFS-backed store."""
_SIDE_FILE = re.compile(r"(side\..+)\.\d+$")


@dataclass(frozen=True)
class Unit:
    """One task's part in a batch. Units with the same group run at the same time, so either may be ahead of the other.

    The group is a query's batch and the operators and outputs that run in one Spark stage; Spark's stage number alone would not
    do, since a pool thread, which knows no task, writes the state files.
    """

    group: tuple[str, int, str]
    partition: int


@dataclass(frozen=True)
class Act:
    """An entry with what its path is and who did it: a task (`unit`), the background, or else the query's own thread."""

    entry: Entry
    place: Place
    batch: int
    unit: Unit | None = None
    background: bool = False


@dataclass(frozen=True)
class Step:
    """A durable step: an act that changes what a reader can see. `position` is that of its act in the timeline."""

    position: int
    act: Act
    phase: Phase
    kind: str
    number: int
    files: int

    def name(self, side: Side) -> StepName:
        return StepName(self.phase, self.kind, self.act.batch, side, self.number, self.act.place.query)

    def __str__(self) -> str:
        return str(self.name(Side.AFTER)).removesuffix(":after")


@dataclass(frozen=True)
class Timeline:
    """A recorded run in canonical order, with its named steps.

    Within a batch the entries of tasks that ran side by side are put in order of their partitions: every prefix is then a disk
    that a crash could have left, and the same name means the same disk in every run.
    `unknown` are durable paths that no row of the table names.
    """

    acts: tuple[Act, ...]
    steps: tuple[Step, ...]
    unknown: tuple[str, ...]

    def entries(self, positions: Iterable[int]) -> list[Entry]:
        return [self.acts[position].entry for position in positions]

    @property
    def comparable(self) -> frozenset[str]:
        """Names that two runs over the same batches must share.

        Three things are left out. Background steps have no fixed time. The number of RocksDB's table files in a commit depends on when RocksDB
        compacts. The partitions of side files depend on their sizes: Spark gives the larger file the lower number, and trace ids add to the size.
        """
        return frozenset(_shared(step) for step in self.steps if not step.act.background and not step.kind.startswith("sst."))


def _shared(step: Step) -> str:
    side = _SIDE_FILE.match(step.kind)
    return str(step if side is None else replace(step, kind=side[1], number=1))


def timeline(journal: Journal, layout: Layout) -> Timeline:
    """The steps of a journal, named."""
    acts = _in_canonical_order(_acts(journal.entries, layout))
    drafts: list[tuple[int, Phase, str, int]] = []
    tree = Tree()
    for position, act in enumerate(acts):
        touched = _durably_touched(act.entry, tree)
        tree.apply(act.entry)
        if touched:
            drafts.append((position, *_phase_and_kind(act), touched))
    numbers = _numbers(acts, drafts)
    steps = tuple(Step(position, acts[position], phase, kind, numbers[position], files) for position, phase, kind, files in drafts)
    unknown = dict.fromkeys(step.act.entry.target for step in steps if not step.act.place.known)
    return Timeline(acts=tuple(acts), steps=steps, unknown=tuple(unknown))


def _acts(entries: Sequence[Entry], layout: Layout) -> list[Act]:
    places = [place(entry.target, layout) for entry in entries]
    background = _background(entries)
    batches = _batches(entries, places, background)
    groups = _groups(entries, places)
    later = _later_stages(entries, places, batches)
    acts = []
    for index, (entry, where) in enumerate(zip(entries, places, strict=True)):
        unit = None
        in_pool = where.family.startswith("state.") and where.partition is not None and entry.operation is not Operation.DELETE
        if not background[index] and where.family and (entry.task is not None or in_pool):
            partition = where.partition if where.partition is not None else entry.task.partition if entry.task else 0
            group = groups[where.family] + (f"+{later[index]}" if later[index] else "")
            unit = Unit((where.query or "", batches[index], group), partition)
        acts.append(Act(entry, where, batches[index], unit, background[index]))
    return acts


def _background(entries: Sequence[Entry]) -> list[bool]:
    """Which entries Spark's maintenance did.

    Its pool threads are those that write state for tasks too: what they delete, and a snapshot of a version that a task has
    already committed as a changelog or a delta, is maintenance.
    """
    versions = [_VERSION.match(final(entry.target)) for entry in entries]
    committed = {(found["folder"], found["version"]) for found in versions if found and found["kind"] in _CHANGES}
    return [
        _BACKGROUND.search(entry.thread) is not None
        or (
            found is not None
            and "/state/" in f"/{found['folder']}"
            and (
                (entry.operation is Operation.DELETE and not temporary(entry.path))
                or (found["kind"] in _SNAPSHOTS and (found["folder"], found["version"]) in committed)
            )
        )
        for entry, found in zip(entries, versions, strict=True)
    ]


def _batches(entries: Sequence[Entry], places: Sequence[Place], background: Sequence[bool]) -> list[int]:
    """The batch of each entry: from the path; else from the task; else the newest batch that its query has begun.

    A table file that maintenance uploads belongs to the snapshot that follows it in the same directory.
    """
    newest: dict[str | None, int] = {}
    batches = []
    for index, (entry, where) in enumerate(zip(entries, places, strict=True)):
        batch = where.batch
        if batch is None and background[index] and where.kind.startswith("sst.") and entry.operation is not Operation.DELETE:
            batch = _next_snapshot(places, index)
        if batch is None and entry.task is not None:
            batch = entry.batch
        if batch is None:
            batch = newest.get(where.query, 0)
        if where.kind == "offsets" and entry.operation is Operation.RENAME:
            newest[where.query] = batch
        batches.append(batch)
    return batches


def _next_snapshot(places: Sequence[Place], index: int) -> int | None:
    wanted = (places[index].query, "state." + places[index].kind.removeprefix("sst."))
    return next((later.batch for later in places[index:] if (later.query, later.kind) == wanted), None)


def _groups(entries: Sequence[Entry], places: Sequence[Place]) -> dict[str, str]:
    """Families that share a Spark stage in any batch, each mapped to one of them."""
    parent = {where.family: where.family for where in places}

    def root(family: str) -> str:
        while parent[family] != family:
            family = parent[family]
        return family

    together: dict[tuple[str | None, int], str] = {}
    for entry, where in zip(entries, places, strict=True):
        if entry.task is None or not where.family:
            continue
        other = together.setdefault((where.query, entry.task.stage), where.family)
        low, high = sorted((root(other), root(where.family)))
        parent[high] = low
    return {family: root(family) for family in parent}


def _later_stages(entries: Sequence[Entry], places: Sequence[Place], batches: Sequence[int]) -> list[int]:
    """How many Spark stages of this batch wrote the same family before the entry's own: a sink that writes by a job of its own comes
    after the job that staged the rows, so its tasks are never ahead of them.
    """
    stages: defaultdict[tuple[str | None, int, str], list[int]] = defaultdict(list)
    found = []
    for entry, where, batch in zip(entries, places, batches, strict=True):
        seen = stages[where.query, batch, where.family]
        if entry.task is not None and entry.task.stage not in seen:
            seen.append(entry.task.stage)
        found.append(seen.index(entry.task.stage) if entry.task is not None else 0)
    return found


def _in_canonical_order(acts: list[Act]) -> list[Act]:
    """Acts of one group sorted by partition, at the positions the group had; a checksum comes after the file it is of."""
    members: defaultdict[tuple[str, int, str], list[int]] = defaultdict(list)
    for position, act in enumerate(acts):
        if act.unit is not None:
            members[act.unit.group].append(position)
    renames = {
        act.entry.target: act.entry.seq
        for act in acts
        if act.entry.operation is Operation.RENAME and not temporary(act.entry.target)
    }
    ordered = list(acts)
    for positions in members.values():
        inside = sorted((acts[position] for position in positions), key=lambda act: _rank(act, renames))
        for position, act in zip(positions, inside, strict=True):
            ordered[position] = act
    return ordered


def _rank(act: Act, renames: dict[str, int]) -> tuple[int, int, int]:
    assert act.unit is not None
    target, seq = act.entry.target, act.entry.seq
    twin = renames.get(target.removesuffix(".crc")) if target.endswith(".crc") and target in renames else None
    return (act.unit.partition, max(seq, twin or 0), 1 if twin is not None and twin > seq else 0)


def _durably_touched(entry: Entry, tree: Tree) -> int:
    """How many durable files the entry gives, moves, or takes away; 0 if it is no step."""
    match entry.operation:
        case Operation.CLOSE | Operation.TRUNCATE:
            return 0 if temporary(entry.path) or entry.sha256 is None else 1
        case Operation.DELETE:
            return sum(1 for path in tree.below(entry.path) if not temporary(path))
        case Operation.RENAME:
            leaving = tree.below(entry.path)
            arriving = [entry.target + path[len(entry.path) :] for path in leaving] or [entry.target]
            return sum(1 for path in {*leaving, *arriving} if not temporary(path)) if entry.directory else _file_rename(entry)
    return 0


def _file_rename(entry: Entry) -> int:
    return 0 if temporary(entry.target) and temporary(entry.path) else 1


def _phase_and_kind(act: Act) -> tuple[Phase, str]:
    """Phase and kind of a step: as the table says, except for what maintenance does and for deletes."""
    where = act.place
    if not where.known:
        return Phase.MAINTENANCE, where.kind
    if act.entry.operation is Operation.DELETE:
        prefix = {Phase.STAGE: "staging.", Phase.PUBLISH: "published."}.get(where.phase, "") if where.kind != "manifest" else ""
        return Phase.MAINTENANCE, prefix + where.kind
    if act.background:
        return Phase.MAINTENANCE, re.sub(r"\bstate\.", "snapshot.", where.kind).replace("sst.", "snapshot-sst.")
    return where.phase, where.kind


def _numbers(acts: Sequence[Act], drafts: Sequence[tuple[int, Phase, str, int]]) -> dict[int, int]:
    """#k of each step among those of the same name: by path without its random parts (`_SUCCESS` last), then by time."""
    same: defaultdict[tuple[str | None, Phase, str, int], list[int]] = defaultdict(list)
    for position, phase, kind, _files in drafts:
        same[(acts[position].place.query, phase, kind, acts[position].batch)].append(position)
    numbers: dict[int, int] = {}
    for positions in same.values():
        ranked = sorted(positions, key=lambda position: _standing(acts[position].entry.target, position))
        numbers.update({position: number for number, position in enumerate(ranked, start=1)})
    return numbers


def _standing(path: str, position: int) -> tuple[bool, str, int]:
    return path.rpartition("/")[2].startswith("_"), pattern(path), position
