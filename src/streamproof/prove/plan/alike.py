"""The scenario of a plan that is like one of another plan: the same fault at the same kind of step, where the steps are others."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from streamproof.core.phases import StepName
from streamproof.prove.plan.planning import ScenarioPlan, kind_of


def alike(plans: Sequence[ScenarioPlan], wanted: ScenarioPlan, batch: int) -> ScenarioPlan | None:
    """The scenario with the fault of `wanted` at its step in another batch, else at a step of its kind as near to that batch as there is one.

    None if no step of its kind has this fault.
    """
    if wanted.step is None:
        return None
    step = replace(wanted.step, batch=batch)
    same = [plan for plan in plans if _how(plan) == _how(wanted)]
    exact = next((plan for plan in same if step in _steps(plan)), None)
    if exact is not None:
        return exact
    near = [
        (abs(one.batch - batch), place, plan)
        for place, plan in enumerate(same)
        for one in _steps(plan)
        if kind_of(one) == kind_of(step)
    ]
    return min(near, key=lambda found: found[:2])[2] if near else None


def _how(plan: ScenarioPlan) -> tuple[object, ...]:
    """All that a scenario is beside its step: what its id has after that says the fault, and which files a power failure took."""
    return plan.mode, plan.fault, plan.recording, plan.id.removeprefix(str(plan.step))


def _steps(plan: ScenarioPlan) -> Iterator[StepName]:
    """Every step that the disk of a scenario lies before or after."""
    if plan.step is not None:
        yield plan.step
    for name in plan.image.names if plan.image is not None and plan.is_disk else ():
        with suppress(ValueError):  # the name of a disk that a power failure has left
            yield StepName.parse(name)
