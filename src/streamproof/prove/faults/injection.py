"""Runs a job while a fault on a service, or on the job's own processes, is done at a named step."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from streamproof.config import SinkConfig, SourceConfig, output_of
from streamproof.core.ids import new_id, short
from streamproof.errors import StreamproofError, TwoDrivers
from streamproof.prove.faults.desk import Call, Desk
from streamproof.prove.faults.fault import ServiceFault, Struck, revive
from streamproof.prove.plan.planning import ScenarioPlan, Strike
from streamproof.prove.process import own_jvm
from streamproof.prove.process.child import ChildResult
from streamproof.prove.process.children import Children, patience
from streamproof.prove.process.zygote import ChildDied, ChildHung
from streamproof.prove.record.live import Action, arming
from streamproof.prove.record.recording import Recording
from streamproof.prove.services.services import reader
from streamproof.prove.subjects.binding import CHECKPOINT, OUT, ScenarioBinding
from streamproof.prove.subjects.job.binding import services_at, sources_at
from streamproof.prove.subjects.job.subject import JobSubject


class FaultInjector:
    """The faults of one proof; `close` when it is over."""

    def __init__(self, subject: JobSubject, children: Children) -> None:
        self._subject, self._children = subject, children
        self._desk, self._life = Desk(), short(new_id())
        self._unmended = ""

    def close(self) -> None:
        self._desk.close()

    def strike(self, plan: ScenarioPlan, strike: Strike, recording: Recording, binding: ScenarioBinding) -> bool:
        """Runs the job to its end, or until it stops, with the fault on the way; then ends the fault. True if it fired.

        Raises
        ------
        StreamproofError
            If the fault itself failed.
        """
        bound: dict[str, SourceConfig | SinkConfig] = {
            **sources_at(binding, self._subject.config),
            **services_at(binding, self._subject.config),
        }
        struck = Struck(
            services=self._subject.services.running,
            lines=self._subject.services.lines,
            bound=bound.get(strike.on),
            second_driver=lambda: self._second_driver(binding, recording),
        )

        def hit(process: int) -> None:
            struck.process = process
            strike.fault.strike(struck)

        if self._unmended:
            raise StreamproofError(f"An earlier fault could not be mended: {self._unmended}")
        strike.fault.make_ready(struck)
        try:
            with self._desk.expecting(hit) as call:
                try:
                    struck.stopped_by = self._meeting(call, plan, strike.fault, recording, binding).code
                except ChildHung as hang:
                    hang.fired = call.fired
                    raise
                except ChildDied:
                    struck.stopped_by = ChildDied.code
            waited = not strike.fault.over_next_batch or self._started_again(plan, strike, recording, binding, struck)
            self._subject.engine.wait_until_ended(str(binding.folder))
        finally:
            struck.end()
            self._mend(strike.fault, struck)
        if call.problem:
            raise StreamproofError(f"The fault failed: {call.problem}")
        return call.fired and waited and strike.fault.met(struck)

    def _started_again(
        self, plan: ScenarioPlan, strike: Strike, recording: Recording, binding: ScenarioBinding, struck: Struck
    ) -> bool:
        """Starts the job while its service is still down; whether, when the driver died, the batch was committed and its rows waited."""
        assert plan.step is not None
        self._subject.engine.wait_until_ended(str(binding.folder))
        query = plan.step.query or next(iter(self._subject.bound.outputs.main))
        died = struck.stopped_by not in ("", ChildDied.code)
        sink = services_at(self._subject.binding(binding.folder.name), self._subject.config)[strike.on]  # by no line
        there = {entry.batch for entry in reader(sink).ledger(sink, binding.folder / OUT / strike.on)}
        batch = plan.step.batch
        waited = died and batch not in there and waits(binding.folder, query, strike.on, batch)
        struck.later(lambda: strike.fault.mend(struck))
        self._children.start(f"{binding.folder.name}-again", binding, recording=recording, read_state=False, struck=True).result()
        return waited

    def _mend(self, fault: ServiceFault, struck: Struck) -> None:
        """Ends a fault, and sees to it that its service runs; where that fails, no other fault is tried."""
        try:
            fault.mend(struck)
            revive(struck.services.get(fault.service))
        except Exception as problem:  # noqa: BLE001 -- clients of services raise what they like
            self._unmended = f"{fault.name}: {type(problem).__name__}: {problem}"

    def _meeting(
        self, call: Call, plan: ScenarioPlan, fault: ServiceFault, recording: Recording, binding: ScenarioBinding
    ) -> ChildResult:
        """The job, which reports the step where the fault waits for it: a step of a service by itself, one of a file by the recording."""
        assert plan.step is not None
        name = f"{binding.folder.name}-struck"
        if fault.on_cluster:
            return self._on_cluster(name, binding, recording, str(plan.step), call.told)
        if plan.step in recording.announced and not fault.over_next_batch:
            return self._children.start(
                name, binding, recording=recording, read_state=False, crash_at=str(plan.step), desk=call.told, struck=True
            ).result()
        identity = f"m{self._life}-{binding.folder.name}"
        recorded = replace(binding, base=f"sp-record://{identity}{binding.folder}")
        self._subject.engine.open_recording(identity, self._subject.folder / identity)
        try:
            if fault.over_next_batch:
                armed = arming(recording.steps, fault.dies_at(plan.step), action=Action.DIE)
                self._subject.engine.arm(identity, *armed.arguments())
                return self._children.start(
                    identity, recorded, recording=recording, read_state=False, crash_at=str(plan.step), desk=call.told, struck=True
                ).result()
            armed = arming(recording.steps, plan.step, action=Action.CALL)
            self._subject.engine.arm_call(identity, *armed.place(), call.told)
            return self._children.start(identity, recorded, recording=recording, read_state=False, struck=True).result()
        finally:
            self._subject.engine.close_recording(identity)
            shutil.rmtree(self._subject.folder / identity, ignore_errors=True)

    def _on_cluster(self, identity: str, binding: ScenarioBinding, recording: Recording, step: str, desk: str) -> ChildResult:
        """The job on executors that are processes of their own."""
        master = self._subject.services.spark()
        jars = self._subject.engine.spark.sparkContext.getConf().get("spark.jars") or ""
        task = self._children.task(identity, binding, recording)
        own = {
            "spark.master": master,
            "spark.executor.memory": own_jvm.MEMORY,
            "spark.executor.extraClassPath": jars.replace(",", os.pathsep).replace("file:", ""),
        }
        task = replace(task, read_state=False, settings={**task.settings, **own}, crash_at=step, desk=desk)
        log = self._subject.folder / f"{identity}.log"
        return own_jvm.finished(task, self._children.environment, log, 2 * patience(recording))

    def _second_driver(self, binding: ScenarioBinding, recording: Recording) -> None:
        """Another process runs the job on the same checkpoint to its end, or until it sees the other one; all else is a fault that failed."""
        identity = f"{binding.folder.name}-second"
        task = replace(self._children.task(identity, binding, recording), read_state=False)
        log = self._subject.folder / f"{identity}.log"
        found = own_jvm.finished(task, self._children.environment, log, patience(recording))
        if found.code not in ("", TwoDrivers.code):
            raise StreamproofError(f"The second driver did not work: {found.message}")


def waits(folder: Path, query: str, output: str, batch: int) -> bool:
    """Whether a batch is committed, and its rows for an output are still staged, while the next one has its manifest."""
    checkpoint = folder / CHECKPOINT / query
    committed = (checkpoint / "commits" / str(batch)).exists()
    begun = (checkpoint / "_streamproof" / "manifests" / str(batch + 1)).exists()
    return committed and begun and any((folder / OUT / output_of(output) / "_staging").glob(f"{batch:06d}-*/*"))
