"""What the plan of a job on files has beside crashes: faults on its tasks, its input, its clock, and its restart."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from streamproof.core.phases import Side, StepName
from streamproof.prove.faults import checkpoints, clocks, inputs, outputs, starts, tasks
from streamproof.prove.plan.planning import Mode, ScenarioPlan
from streamproof.prove.record.images import Image, prefixes
from streamproof.prove.record.live import armed_at
from streamproof.prove.record.steps import Timeline

FAULTS = (*tasks.FAULTS, *inputs.FAULTS, *starts.FAULTS, *clocks.FAULTS, *outputs.FAULTS, *checkpoints.FAULTS)


def plans(timeline: Timeline, own_sinks: Collection[str] = ()) -> list[ScenarioPlan]:
    """Each fault at one step of each query; a task is tried again only where one takes part in the step.

    Parameters
    ----------
    own_sinks
        The outputs, or those of their sinks, that are written by a sink of the job's own.
    """
    by_query: dict[str | None, list[StepName]] = {}
    for step in timeline.steps:
        if not step.act.background:
            by_query.setdefault(step.act.place.query, []).extend(step.name(side) for side in Side)
    images = {name: image for image in prefixes(timeline) for name in image.names}
    return [plan for steps in by_query.values() for plan in _of_query(timeline, steps, images, own_sinks)]


def _of_query(
    timeline: Timeline, steps: list[StepName], images: dict[str, Image], own_sinks: Collection[str]
) -> Iterator[ScenarioPlan]:
    of_ours = [step for step in steps if step.kind not in own_sinks]
    for fault in FAULTS:
        step = fault.at(of_ours if fault.of_our_sinks else steps)
        if step is None or (fault.arms is not None and armed_at(timeline, step, fault.arms) is None):
            continue
        name = fault.id_at(step)
        if fault.live:
            yield ScenarioPlan(name, Mode.LIVE, fault.name, step, injected=fault)
        else:
            image = replace(images[str(step)], id=name, step=step, names=(name,))
            yield ScenarioPlan(name, Mode.IMAGE, fault.name, step, image, injected=fault)
