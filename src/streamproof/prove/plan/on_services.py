"""The plan of a job on real services: crashes while it runs, and faults on what it is connected to."""

from collections.abc import Sequence

from streamproof.config import JobConfig
from streamproof.core.phases import Side, StepName
from streamproof.prove.faults.catalogue import strikes
from streamproof.prove.faults.fault import ServiceFault
from streamproof.prove.faults.planned import ALONE
from streamproof.prove.plan.planning import ScenarioPlan, live, quick, struck
from streamproof.prove.record.recording import Recording
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.services import Services
from streamproof.prove.services.given import has_lines

_Strike = tuple[ServiceFault, StepName, str]


def plans(
    config: JobConfig, scenario: Scenario, recording: Recording, outside: Services, *, full: bool, of_each_kind: bool
) -> tuple[list[ScenarioPlan], tuple[str, ...]]:
    """Live crashes, and the faults on services that can be brought about here; and those that cannot, in words.

    With `of_each_kind` one crash for each kind of step, and no faults on services.
    """
    if of_each_kind:
        return quick(live(recording.steps, recording.announced)), ("faults on services, which take a proof without --quick",)
    found = _strikes(config, scenario, recording, full=full)
    possible = [each for each in found if not _lacking(each[0], outside)]
    return [*live(recording.steps, recording.announced), *struck(possible)], _left_out(found, outside)


def _strikes(config: JobConfig, scenario: Scenario, recording: Recording, *, full: bool) -> list[_Strike]:
    own = [name for name, sink in config.sink.items() if sink.is_of_the_job]
    stores = tuple(dict.fromkeys(scenario.environment.values()))
    return list(
        strikes(
            [step.name(side) for step in recording.steps.steps for side in Side],
            recording.announced,
            {name: sink.services[:1] or (stores if name in own else ()) for name, sink in config.sink.items()},
            {name: source.services for name, source in config.source.items()},
            own,
            recording.of_tasks,
            everywhere=full,
        )
    )


def _lacking(fault: ServiceFault, outside: Services) -> str:
    """What a fault takes and this proof does not have; empty if nothing."""
    if fault.service in outside.given and (fault.lane == ALONE or not has_lines(fault.service)):
        return f"a {fault.service} that is started for the proof: leave --service {fault.service} out"
    if fault.brokers > outside.brokers:
        return f"{fault.brokers} brokers: --brokers {fault.brokers}"
    return "Toxiproxy: streamproof lab fetch toxiproxy" if fault.by_line and fault.service not in outside.lines else ""


def _left_out(found: Sequence[_Strike], outside: Services) -> tuple[str, ...]:
    """What is lacking, with the faults that take it."""
    by_lack: dict[str, list[str]] = {}
    for fault, _, _ in found:
        by_lack.setdefault(_lacking(fault, outside), []).append(fault.name)
    by_lack.pop("", None)
    return tuple(f"{', '.join(dict.fromkeys(names))}, which take {lack}" for lack, names in by_lack.items())
