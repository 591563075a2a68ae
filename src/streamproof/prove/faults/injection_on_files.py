"""Carries out the faults that jobs on files meet too: on a disk of the recording, or while the job runs from the beginning."""

import shutil
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from streamproof.core.durations import micros_of
from streamproof.core.ids import new_id, short
from streamproof.core.phases import StepName
from streamproof.prove.artifacts.reading import read_history
from streamproof.prove.faults.on_files import Case, FileFault
from streamproof.prove.plan.planning import ScenarioPlan
from streamproof.prove.process.child import ChildResult
from streamproof.prove.process.children import Children
from streamproof.prove.record import journal as journals
from streamproof.prove.record.build import build
from streamproof.prove.record.live import arming_task
from streamproof.prove.record.recording import Recording
from streamproof.prove.subjects.binding import CHECKPOINT, OUT, ScenarioBinding
from streamproof.prove.subjects.job.binding import query_layouts
from streamproof.prove.subjects.job.subject import JobSubject


class FileFaultInjector:
    """The faults of one proof."""

    def __init__(self, subject: JobSubject, children: Children) -> None:
        self._subject, self._children, self._life = subject, children, short(new_id())

    def carry_out(
        self, plan: ScenarioPlan, fault: FileFault, recording: Recording, binding: ScenarioBinding
    ) -> tuple[bool, ChildResult]:
        """Does the fault, and its remedy where the job stops as it must; whether it fired, and how the job came to its end.

        Raises
        ------
        NotMet
            If something that must hold under it does not.
        """
        assert plan.step is not None
        fired = False
        if plan.image is not None:
            fired = build(plan.image, binding.folder, recording.blobs, self._subject.layout, recording.binding.folder).fired()
        case = self._case(plan.step, recording, binding, fired=fired)
        result = fault.carry_out(case)
        return case.fired, result

    def _case(self, step: StepName, recording: Recording, binding: ScenarioBinding, *, fired: bool) -> Case:
        query = step.query or next(iter(self._subject.bound.outputs.main))
        source = self._subject.config.source[self._subject.bound.outputs.main[query].source]
        declared = source.event_time.max_future if source.event_time else None
        starts: list[str] = []

        def start(
            *,
            settings: Mapping[str, str] | None = None,
            from_outside: Mapping[str, str] | None = None,
            changed: bool = False,
            replay_last: bool = False,
        ) -> ChildResult:
            starts.append(f"{binding.folder.name}-{len(starts) + 1}")
            return self._children.start(
                starts[-1],
                binding.in_one_batch(),
                recording=recording,
                settings=settings,
                from_outside=from_outside,
                changed=changed,
                replay_last=replay_last,
                count_tasks=settings is not None,
            ).result()

        return Case(
            batch=step.batch,
            checkpoint=binding.folder / CHECKPOINT / query,
            checkpoints=binding.folder / CHECKPOINT,
            outputs=binding.folder / OUT,
            output=binding.folder / OUT / step.kind,
            inputs=lambda: self._inputs(query, step.batch, binding),
            newest_us=lambda: self._newest_us(query, step.batch, binding),
            max_future_us=micros_of(declared) if declared is not None else None,
            start=start,
            try_again=lambda: self._try_again(step, recording, binding),
            fired=fired,
        )

    def _files(self, query: str, batch: int, folder: Path) -> tuple[str, ...]:
        layout = next(layout for layout in query_layouts(self._subject.bound, folder) if layout.query == query)
        return next(read.files for read in read_history(layout).batches if read.batch == batch)

    def _inputs(self, query: str, batch: int, binding: ScenarioBinding) -> list[Path]:
        source = Path(binding.data[self._subject.bound.outputs.main[query].source])
        return [source / name for name in self._files(query, batch, binding.folder)]

    def _newest_us(self, query: str, batch: int, binding: ScenarioBinding) -> int | None:
        """The newest event time of the events that pass. Those that are lost or rejected anyway do not count."""
        arrived = self._subject.arrivals[query].arrived
        traces = (
            trace
            for name in self._files(query, batch, binding.folder)
            for trace in self._subject.written.traces_of_file.get(name, ())
        )
        passed = (arrived[trace] for trace in traces if trace in arrived)
        return max((one.time_us for one in passed if one.fate == "passed" and one.time_us is not None), default=None)

    def _try_again(self, step: StepName, recording: Recording, binding: ScenarioBinding) -> tuple[bool, ChildResult]:
        identity = f"t{self._life}-{binding.folder.name}"
        folder, engine = self._subject.folder / identity, self._subject.engine
        recorded = replace(binding, base=f"sp-record://{identity}{binding.folder}")
        armed = arming_task(recording.steps, step)
        assert armed is not None, "it is planned only where a task takes part"
        engine.open_recording(identity, folder)
        try:
            engine.arm(identity, *armed.arguments())
            result = self._children.start(identity, recorded, recording=recording).result()
            fired = engine.fired(identity)
        finally:
            engine.close_recording(identity)
        again = attempts(journals.read(folder, binding.folder), step.batch) > 1
        shutil.rmtree(folder, ignore_errors=True)
        return fired and again, result


def attempts(journal: journals.Journal, batch: int) -> int:
    """How many attempts of one task have written something in a batch, at most."""
    found: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for entry in journal.entries:
        if entry.task is not None and entry.batch == batch:
            found[entry.task.stage, entry.task.partition].add(entry.task.attempt)
    return max((len(tried) for tried in found.values()), default=0)
