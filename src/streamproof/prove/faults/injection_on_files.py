"""Carries out the faults that jobs on files meet too: on a disk of the recording, or while the job runs from the beginning."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from streamproof.core.phases import StepName
from streamproof.prove.faults.armed import ArmedRun, ArmedRuns
from streamproof.prove.faults.on_files import Case, FileFault
from streamproof.prove.faults.planned import Injected, Place, PlannedFault
from streamproof.prove.process.children import Children, Run
from streamproof.prove.process.task import ChildResult, Conditions
from streamproof.prove.record.binding import CHECKPOINT, OUT, ScenarioBinding
from streamproof.prove.record.build import build
from streamproof.prove.record.live import armed_at
from streamproof.prove.record.paths import Layout
from streamproof.prove.record.rebase import rebase


class FileSite(Protocol):
    """What faults on files need of a subject."""

    @property
    def layout(self) -> Layout:
        """The paths of a scenario's folder."""

    def query_of(self, step: StepName) -> str:
        """The query that a step is of."""

    def inputs(self, step: StepName, binding: ScenarioBinding) -> Sequence[Path]:
        """The files that the batch of a step reads, where they lie."""

    def newest_us(self, step: StepName, binding: ScenarioBinding) -> int | None:
        """The newest event time of the records of the step's batch that pass, microseconds; None if there is none."""

    def max_future_us(self, step: StepName) -> int | None:
        """How far in the future an event may be; None if that is not asked."""


class FileFaultInjector:
    """The faults of one proof."""

    def __init__(self, run: Run, site: FileSite, children: Children) -> None:
        self._run, self._site, self._children = run, site, children
        self._armed = ArmedRuns(run, children)

    def close(self) -> None:
        """Nothing lasts longer than a scenario."""

    def inject(self, fault: PlannedFault, place: Place) -> Injected | None:
        """Does the fault, and its remedy where the job stops as it must: the job has come to its end after that."""
        if not isinstance(fault, FileFault):
            return None
        fired = False
        if place.image is not None:
            recorded = place.recording.binding.folder
            fired = build(place.image, place.binding.folder, place.recording.blobs, self._site.layout, recorded).fired()
        case = self._case(fault, place, fired=fired)
        result = fault.carry_out(case)
        return Injected(case.fired, result)

    def _case(self, fault: FileFault, place: Place, *, fired: bool) -> Case:
        step, binding = place.step, place.binding
        checkpoints, outputs = binding.folder / CHECKPOINT, binding.folder / OUT
        starts: list[str] = []

        def start(
            *,
            settings: Mapping[str, str] | None = None,
            from_outside: Mapping[str, str] | None = None,
            changed: bool = False,
            replay_last: bool = False,
        ) -> ChildResult:
            starts.append(f"{binding.folder.name}-{len(starts) + 1}")
            conditions = Conditions(
                replay_last=replay_last,
                count_tasks=settings is not None,
                changed=changed,
                settings=settings or {},
                from_outside=from_outside or {},
            )
            return self._children.start(starts[-1], binding.in_one_batch(), conditions, recording=place.recording).result()

        return Case(
            batch=step.batch,
            checkpoint=checkpoints / self._site.query_of(step),
            checkpoints=checkpoints,
            outputs=outputs,
            output=outputs / step.kind,
            inputs=lambda: self._site.inputs(step, binding),
            newest_us=lambda: self._site.newest_us(step, binding),
            max_future_us=self._site.max_future_us(step),
            start=start,
            armed=lambda: self._armed_at(fault, place),
            fired=fired,
        )

    @contextmanager
    def _armed_at(self, fault: FileFault, place: Place) -> Iterator[ArmedRun]:
        assert fault.arms is not None, "only a fault that says what it arms runs the job with something armed"
        armed = armed_at(place.recording.steps, place.step, fault.arms)
        assert armed is not None, "it is planned only where it can be armed"
        with self._armed.armed(armed, place.recording, place.binding) as run:
            yield run
        self._run.engine.wait_until_ended(str(place.binding.folder))
        rebase(place.binding.folder)  # the job may be started there again, by no recording
