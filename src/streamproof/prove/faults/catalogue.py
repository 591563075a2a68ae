"""All faults on services, and the steps at which a plan tries each of them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module

from streamproof.core.phases import Phase, Side, StepName
from streamproof.prove.faults import network, processes, registry
from streamproof.prove.faults.fault import ServiceFault
from streamproof.prove.services.kinds import KINDS

_OF_LIBRARIES = ("brokers", "database", "stores")
_PLANNED, _STAGED = "offsets", "manifest"


def all_faults() -> list[ServiceFault]:
    """Every fault; those of services whose library is not installed are left out: no job here can be bound to them."""
    found = [*network.faults(), *processes.FAULTS, *registry.FAULTS]
    for module in _OF_LIBRARIES:
        try:
            found += import_module(f"streamproof.prove.faults.{module}").FAULTS
        except ImportError:
            continue
    return found


def strikes(
    recorded: Sequence[StepName],
    announced: Sequence[StepName],
    sinks: Mapping[str, Sequence[str]],
    sources: Mapping[str, Sequence[str]],
    own: Sequence[str] = (),
    of_tasks: Collection[StepName] = (),
    *,
    everywhere: bool = False,
) -> Iterator[tuple[ServiceFault, StepName, str]]:
    """Faults and the steps at which they strike, with the output or the source that the fault is on.

    A fault on a service strikes at the first step that the middle batch takes there, for the first output that goes there; and once the
    offsets of that batch are planned, where a source is read there (of the first batch, where it is the registry: what it has said is
    remembered). With `everywhere` it strikes at every step of every output.

    Parameters
    ----------
    recorded, announced
        The steps on the recorded file system, and those that services have taken.
    sinks, sources
        By output and by source, the services that it needs; none for files.
    own
        The outputs with a sink of the job's own.
    of_tasks
        Of the announced steps those that tasks take: only there an executor can be killed.
    """
    for fault in all_faults():
        possible = [
            step
            for step in dict.fromkeys(announced)
            if fault.aim.takes(step)
            and (not fault.on_cluster or step in of_tasks)
            and (not fault.over_next_batch or fault.dies_at(step) in recorded)
        ]
        fitting = {output: services for output, services in sinks.items() if fault.aim.own_sinks or output not in own}
        yield from _on_outputs(fault, possible, fitting, everywhere=everywhere)
        yield from _on_sources(fault, recorded, sources)
        if fault.service == "driver":
            yield from _on_driver(fault, recorded, next(iter(sinks), ""))
            yield from _on_own_sinks(fault, announced, own)


def _on_outputs(
    fault: ServiceFault, announced: Sequence[StepName], sinks: Mapping[str, Sequence[str]], *, everywhere: bool
) -> Iterator[tuple[ServiceFault, StepName, str]]:
    for output, services in sinks.items():
        if not services or fault.service not in (*services, "spark"):
            continue
        own = [step for step in announced if _is_of(step, output)]
        middle = _of_middle_batch(own)
        yield from ((fault, step, output) for step in (own if everywhere else _first(middle)))
        if middle and not everywhere:
            return


def _on_sources(
    fault: ServiceFault, recorded: Sequence[StepName], sources: Mapping[str, Sequence[str]]
) -> Iterator[tuple[ServiceFault, StepName, str]]:
    source = next((name for name, services in sources.items() if fault.service in services), None)
    if source is not None and Side.AFTER in fault.aim.sides:
        planned = [step for step in recorded if (step.phase, step.kind, step.side) == (Phase.PLAN, _PLANNED, Side.AFTER)]
        yield from (
            (fault, step, source) for step in (planned[:1] if KINDS[fault.service].remembered else _of_middle_batch(planned))
        )


def _on_driver(fault: ServiceFault, recorded: Sequence[StepName], output: str) -> Iterator[tuple[ServiceFault, StepName, str]]:
    """Before the manifest the two drivers stage different ones, after it they share it."""
    manifests = [step for step in recorded if (step.phase, step.kind, step.side) == (Phase.STAGE, _STAGED, Side.AFTER)]
    for behind in _of_middle_batch(manifests):
        *_, before = (step for step in recorded[: recorded.index(behind)] if step.side is Side.AFTER)
        yield from ((fault, before, output), (fault, behind, output))


def _on_own_sinks(
    fault: ServiceFault, announced: Sequence[StepName], own: Sequence[str]
) -> Iterator[tuple[ServiceFault, StepName, str]]:
    """Two drivers at a sink of the job's own: between two of its steps the other driver may have done the same."""
    for output in own:
        steps = [step for step in dict.fromkeys(announced) if _is_of(step, output) and step.side is Side.BEFORE]
        yield from ((fault, step, output) for step in _of_middle_batch(steps))


def _first(steps: Sequence[StepName]) -> Sequence[StepName]:
    """The first one, if there is one; of those that tasks take side by side that of the lowest task: which was there first is chance."""
    if not steps:
        return ()
    phase, side, (kind, _) = steps[0].phase, steps[0].side, _of_task(steps[0].kind)
    beside = [step for step in steps if (step.phase, step.side, _of_task(step.kind)[0]) == (phase, side, kind)]
    return [min(beside, key=lambda step: (_of_task(step.kind)[1], step))]


def _of_task(kind: str) -> tuple[str, int]:
    """ "calls.call" and 1 of "calls.call.1", the step of the second task; -1 where no task is named."""
    name, _, task = kind.rpartition(".")
    return (name, int(task)) if task.isdigit() else (kind, -1)


def _is_of(step: StepName, sink: str) -> bool:
    """Whether a sink has announced a step: "exposure.postgres" has taken `publish/exposure.postgres.call.0`."""
    return step.kind == sink or step.kind.startswith(f"{sink}.")


def _of_middle_batch(steps: Sequence[StepName]) -> list[StepName]:
    batches = sorted({step.batch for step in steps})
    return [step for step in steps if step.batch == batches[len(batches) // 2]]
