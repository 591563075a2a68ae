"""The plan of a proof: which scenarios there are, in which order, and what each is called."""

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from streamproof.core.phases import Phase, Side, StepName
from streamproof.errors import ScenarioError
from streamproof.prove.faults.fault import ServiceFault, Strike
from streamproof.prove.faults.planned import PlannedFault
from streamproof.prove.record.cuts import cuts
from streamproof.prove.record.deaths import deaths_of_several, deaths_of_staged, machine_deaths
from streamproof.prove.record.images import Image, prefixes, without
from streamproof.prove.record.steps import Timeline


class Mode(StrEnum):
    """How a scenario comes to its disk."""

    FAULT_FREE = "fault-free"
    IMAGE = "image"
    LIVE = "live"
    KILL = "kill"


LIVE_MODES = (Mode.LIVE, Mode.KILL)


@dataclass(frozen=True)
class ScenarioPlan:
    """One scenario: its id, the step it crashes at (None for the fault-free one), the fault and how it is brought about.

    `compared` is a live crash, or the image that it is compared with: both keep the scenario's batches to the end. A live crash without an
    image is at a step that a service has taken. With an `injected` fault there is more than a crash, and more than a disk to recover from.
    """

    id: str
    mode: Mode
    fault: str
    step: StepName | None
    image: Image | None = None
    recording: str = "default"
    compared: bool = False
    injected: PlannedFault | None = None

    @property
    def is_disk(self) -> bool:
        """Whether the scenario needs nothing but a disk to recover from."""
        return self.mode is Mode.IMAGE and self.injected is None

    @property
    def names(self) -> tuple[str, ...]:
        """Every id that means this scenario's disk."""
        if self.image is None or self.mode is not Mode.IMAGE:
            return (self.id,)
        ending = "" if self.recording == "default" else f"+{self.recording}"
        return tuple(f"{name}{ending}" for name in self.image.names)


FAULT_FREE = ScenarioPlan("fault-free", Mode.FAULT_FREE, "none", None)
_LIVE_ORDER = (Phase.START, Phase.PLAN, Phase.WORK, Phase.STAGE, Phase.PUBLISH, Phase.COMMIT)


def standard(timeline: Timeline) -> list[ScenarioPlan]:
    """Every distinct disk of the default recording after a process death, and every phase crashed live once in-process."""
    images = prefixes(timeline)
    live = _live(images, "+live", Mode.LIVE)
    compared = {plan.step for plan in live}
    found = [
        ScenarioPlan(image.id, Mode.IMAGE, "process-death", image.step, image, compared=image.step in compared) for image in images
    ]
    return in_order([*found, *live])


def live(timeline: Timeline, announced: Sequence[StepName]) -> list[ScenarioPlan]:
    """The same disks and the steps of services, each crashed live, because no disk of ours holds what services hold."""
    crashes = [
        ScenarioPlan(f"{image.step}+live", Mode.LIVE, "process-death", image.step, image)
        for image in prefixes(timeline)
        if not image.background
    ]
    taken = dict.fromkeys(announced)
    return in_order([*crashes, *[ScenarioPlan(f"{step}+live", Mode.LIVE, "process-death", step) for step in taken]], Mode.LIVE)


def before_commits(timeline: Timeline) -> list[ScenarioPlan]:
    """A live crash right before each commit: what a job's own function has done in the batch is done then, wherever it lies.

    The disk is often the one after the plan of the batch, so that no image tells the two apart.
    """
    return list(_before(timeline, Phase.COMMIT))


def before_writes(timeline: Timeline) -> list[ScenarioPlan]:
    """The same right before the first file that a batch publishes: what the function has noted elsewhere by then is there, and no row is."""
    return [plan for plan in _before(timeline, Phase.PUBLISH) if plan.step is not None and plan.step.number == 1]


def _before(timeline: Timeline, phase: Phase) -> Iterator[ScenarioPlan]:
    for image in prefixes(timeline):
        for step in map(StepName.parse, image.names):
            if step.phase is phase and step.side is Side.BEFORE and not image.background:
                yield ScenarioPlan(f"{step}+live", Mode.LIVE, "process-death", step, image)


def struck(strikes: Iterable[tuple[ServiceFault, StepName, str]]) -> list[ScenarioPlan]:
    """Faults on services, each at its step."""
    return [
        ScenarioPlan(f"{step}+{fault.name}+live", Mode.LIVE, fault.name, step, injected=Strike(fault, on))
        for fault, step, on in strikes
    ]


def additional(timeline: Timeline) -> list[ScenarioPlan]:
    """What the full plan adds on the default recording: the other cuts, machine deaths, kill -9 of a child at every phase."""
    images = prefixes(timeline)
    others = without(cuts(timeline), images)
    found = [ScenarioPlan(image.id, Mode.IMAGE, "process-death", image.step, image) for image in others]
    one_file = (death for image in one_of_each_kind(images) for death in machine_deaths(image))
    several = (death for image in _ends_of_phases(images) for death in deaths_of_several(image))
    staged = (death for image in _half_published(images) for death in deaths_of_staged(image))
    deaths = without((*one_file, *several, *staged), [*images, *others])
    found += [ScenarioPlan(image.id, Mode.IMAGE, "machine-death", image.step, image) for image in deaths]
    return [*found, *_live(images, "+kill+live", Mode.KILL)]


def beyond(timeline: Timeline, rare: Timeline, known: Sequence[ScenarioPlan]) -> list[ScenarioPlan]:
    """What the full plan adds to a plan: on the default recording, and the distinct disks of the one with rare settings."""
    found = additional(timeline)
    images = [plan.image for plan in (*known, *found) if plan.image is not None]
    return [*found, *second_recording(rare, images)]


def second_recording(timeline: Timeline, known: Iterable[Image]) -> list[ScenarioPlan]:
    """The distinct disks of the recording with settings that make the rare things happen (R18)."""
    found = without(one_of_each_kind(prefixes(timeline)), known)
    return [ScenarioPlan(f"{image.id}+rare", Mode.IMAGE, "process-death", image.step, image, recording="rare") for image in found]


def quick(plans: Sequence[ScenarioPlan]) -> list[ScenarioPlan]:
    """Of a standard plan, or of live crashes, one crash for each kind of step; and the live crash of every phase. For pull requests.

    The crash of a kind is the last one in the middle batch where that has the kind, else in the batch nearest to it. The image that a
    live crash is compared with (R16) goes before all others of its kind.
    """
    beside = {plan.id for plan in plans if plan.mode in LIVE_MODES and plan.compared}
    by_kind: dict[tuple[object, ...], list[tuple[StepName, ScenarioPlan]]] = {}
    for plan in plans:
        if plan.step is not None and plan.id not in beside:
            by_kind.setdefault(kind_of(plan.step), []).append((plan.step, plan))
    batches = sorted({step.batch for group in by_kind.values() for step, _ in group})
    middle = batches[len(batches) // 2] if batches else 0

    def fitness(crash: tuple[StepName, ScenarioPlan]) -> tuple[bool, int]:
        step, plan = crash
        return plan.compared, -abs(step.batch - middle)

    taken = beside | {max(reversed(group), key=fitness)[1].id for group in by_kind.values()}
    known = {kind for plan in plans if plan.id in taken for kind in _kinds(plan)}
    for plan in reversed(plans):  # a kind whose disks all bear the names of other steps
        if plan.id not in taken and any(kind not in known and kind[-1] is Side.AFTER for kind in _kinds(plan)):
            taken.add(plan.id)
            known |= _kinds(plan)
    return [plan for plan in plans if plan.id in taken]


def brief(plans: Sequence[ScenarioPlan]) -> list[ScenarioPlan]:
    """Of a quick plan one crash in each phase, by a disk where there is one: for somebody who waits for the verdict while editing."""
    found: dict[Phase, ScenarioPlan] = {}
    for plan in plans:
        if plan.step is None:
            continue
        known = found.get(plan.step.phase)
        if known is None or (plan.is_disk and not (known.is_disk and known.compared)):
            found[plan.step.phase] = plan
    return [plan for plan in plans if plan in found.values()]


def one_of_each_kind(images: Sequence[Image]) -> list[Image]:
    """Of each batch and kind of step the last disk: partitions, operators and numbered files of one kind are alike.

    The full plan tries machine death and the second recording there. Process death on the default recording is tried at every disk.
    """
    last: dict[tuple[object, ...], Image] = {}
    for image in images:
        key = (*kind_of(image.step), image.step.batch)
        last.pop(key, None)
        last[key] = image
    return list(last.values())


def _kinds(plan: ScenarioPlan) -> set[tuple[object, ...]]:
    """Those of every step that the disk of a scenario lies before or after."""
    steps = [StepName.parse(name) for name in plan.image.names] if plan.image is not None else [plan.step]
    return {kind_of(step) for step in steps if step is not None}


def kind_of(step: StepName) -> tuple[object, ...]:
    """What a step has in common with those of other batches, partitions, operators and numbered files."""
    kind = ".".join(part for part in step.kind.split(".") if not part.isdigit())
    return step.query, step.phase, kind, step.side


def _ends_of_phases(images: Sequence[Image]) -> list[Image]:
    """In the middle batch the disks after its manifest, its last publication and its commit: there several files are lost at once."""
    ends: dict[tuple[object, ...], Image] = {}
    for image in images:
        step = image.step
        if (
            step.side is Side.AFTER
            and (step.kind == "manifest" or step.phase in (Phase.PUBLISH, Phase.COMMIT))
            and not image.background
        ):
            ends[step.query, step.batch, step.phase] = image
    batches = sorted({image.step.batch for image in ends.values()})
    return [image for image in ends.values() if image.step.batch == batches[len(batches) // 2]]


def _half_published(images: Sequence[Image]) -> list[Image]:
    """In the middle batch the disk of each query after its first publication: what its other outputs have staged can be lost then."""
    published = [image for image in images if image.step.phase is Phase.PUBLISH and image.step.side is Side.AFTER]
    of_outputs = [image for image in published if not image.step.kind.endswith((".ledger", ".copy"))]
    batches = sorted({image.step.batch for image in of_outputs})
    first: dict[object, Image] = {}
    for image in of_outputs:
        if image.step.batch == batches[len(batches) // 2]:
            first.setdefault(image.step.query, image)
    return list(first.values())


def _live(images: Sequence[Image], suffix: str, mode: Mode) -> list[ScenarioPlan]:
    """One live crash per phase, in the middle batch where there is one, after the last step of the phase."""
    found = []
    for phase in _LIVE_ORDER:
        steps = [
            image for image in images if image.step.phase is phase and str(image.step.side) == "after" and not image.background
        ]
        if not steps:
            continue
        batches = sorted({image.step.batch for image in steps})
        middle = batches[len(batches) // 2]
        chosen = [image for image in steps if image.step.batch == middle][-1]
        found.append(ScenarioPlan(f"{chosen.step}{suffix}", mode, "process-death", chosen.step, chosen, compared=True))
    return found


def in_order(plans: Sequence[ScenarioPlan], mode: Mode = Mode.IMAGE) -> list[ScenarioPlan]:
    """An order that meets every phase early: of a mode the middle batch's publish and commit first, then all others as they come."""
    batches = sorted({plan.step.batch for plan in plans if plan.step is not None})
    middle = batches[len(batches) // 2] if batches else 0

    def early(plan: ScenarioPlan) -> int:
        step = plan.step
        if step is None or plan.mode is not mode or step.batch != middle:
            return 1
        return 0 if step.phase in (Phase.PUBLISH, Phase.COMMIT) else 1

    return sorted(plans, key=early)


def chosen(plans: Sequence[ScenarioPlan], only: str | None) -> list[ScenarioPlan]:
    """The scenarios that `only` means: an id, another name of its disk, a glob, or several of these with commas.

    Raises
    ------
    ScenarioError
        If nothing matches; names the nearest.
    """
    if only is None:
        return list(plans)
    if only == FAULT_FREE.id:
        return []  # it is no part of the plan: every proof begins with it
    if "," in only:
        ids = {plan.id for part in only.split(",") for plan in chosen(plans, part)}
        return [plan for plan in plans if plan.id in ids]
    found = [plan for plan in plans if only == plan.id or only in plan.names]
    if not found:
        found = [plan for plan in plans if any(fnmatch.fnmatchcase(name, only) for name in plan.names)]
    if not found:
        import difflib

        near = difflib.get_close_matches(only, [name for plan in plans for name in plan.names], n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else ""
        raise ScenarioError(
            f"No scenario of this plan is called {only}. {hint}".strip(), remedy="streamproof prove TARGET --list shows them."
        )
    return found


def in_words(plan: ScenarioPlan) -> str:
    """What happens in a scenario, as a sentence without its end."""
    step = plan.step
    if step is None:
        return "no fault: the job runs from start to end"
    side = "after" if str(step.side) == "after" else "before"
    name, _, rest = step.kind.partition(".")
    output, _, part = step.kind.rpartition(".")
    part = part if output and step.phase is Phase.PUBLISH else ""
    template = _OF_OUTPUTS.get(part) or _WHAT.get((step.phase, name)) or _WHAT.get((step.phase, "*"), _OTHER)
    if step.phase is Phase.PUBLISH and step.number > 1 and part not in _OF_OUTPUTS:
        template = f"file {step.number} of output {{kind}}{{of}} was written by its sink"
    of = "" if step.phase is Phase.START else f" of batch {step.batch}"
    happened = template.format(kind=step.kind, name=name, rest=rest, output=output, number=step.number, of=of)
    how = {"machine-death": "the machine dies", "process-death": "the process dies"}.get(plan.fault, plan.fault)
    if plan.injected is not None:
        how = plan.injected.words
    if plan.mode is Mode.KILL:
        how = "the process is killed with kill -9"
    return f"{how} {side} {happened}{_NEXT.get((step.phase, side), '')}"


_OF_OUTPUTS = {
    "ledger": "the ledger of output {output}{of} was written",
    "copy": "file {number} of the copy for output {output}{of} was written",
}
_OTHER = "{kind}{of} was written"
_WHAT = {
    (Phase.START, "metadata"): "Spark wrote its query id",
    (Phase.START, "incarnation"): "the incarnation was written",
    (Phase.PLAN, "source"): "the file source listed the files{of}",
    (Phase.PLAN, "offsets"): "Spark planned the offsets{of}",
    (Phase.WORK, "state"): "the state {rest}{of} was saved",
    (Phase.WORK, "sst"): "a table file of the state {rest}{of} was saved",
    (Phase.WORK, "checksum"): "a checksum of the {rest}{of} was saved",
    (Phase.WORK, "side"): "side rows {rest}{of} were written",
    (Phase.WORK, "parked"): "rows{of} that wait for their window were put aside",
    (Phase.STAGE, "parked"): "rows that wait for their window were put together{of}",
    (Phase.STAGE, "manifest"): "the manifest{of} was written",
    (Phase.STAGE, "*"): "rows of output {kind}{of} were staged",
    (Phase.PUBLISH, "*"): "output {kind}{of} was published",
    (Phase.COMMIT, "*"): "Spark wrote the commit log{of}",
    (Phase.MAINTENANCE, "*"): "{kind}{of} was cleaned up",
}
_NEXT = {(Phase.PUBLISH, "after"): ", before Spark committed the batch"}
