"""Runs a job while a fault on a service, or on the job's own processes, is done at a named step."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from streamproof.config import SinkConfig, SourceConfig, output_of
from streamproof.core.phases import StepName
from streamproof.errors import StreamproofError, TwoDrivers
from streamproof.prove.faults.armed import ArmedRuns
from streamproof.prove.faults.fault import ServiceFault, Strike, Struck, revive
from streamproof.prove.faults.planned import Injected, Place, PlannedFault, unmet
from streamproof.prove.process import own_jvm
from streamproof.prove.process.children import Children, Run, patience
from streamproof.prove.process.desk import Call, Desk
from streamproof.prove.process.task import ChildResult, Conditions
from streamproof.prove.process.zygote import ChildDied, ChildHung
from streamproof.prove.record.binding import CHECKPOINT, OUT, ScenarioBinding
from streamproof.prove.record.live import Action, arming

if TYPE_CHECKING:
    from streamproof.lab.service import Service
    from streamproof.lab.toxiproxy import Proxy


class ServiceSite(Protocol):
    """What faults on services need of a subject."""

    @property
    def running(self) -> Mapping[str, "Service"]:
        """The services that run for the proof, by their names."""

    @property
    def lines(self) -> Mapping[str, Sequence["Proxy"]]:
        """The lines to each through the proxy."""

    def cluster(self) -> str:
        """The master of a Spark cluster, which is started when it is first asked for."""

    def query_of(self, step: StepName) -> str:
        """The query that a step is of."""

    def bound_to(self, on: str, binding: ScenarioBinding) -> SourceConfig | SinkConfig | None:
        """What a source or an output is bound to in a scenario; None where that is no service."""

    def published(self, on: str, binding: ScenarioBinding) -> set[int]:
        """The batches that the ledger of an output has, asked by no line."""


class ServiceFaultInjector:
    """The faults of one proof; `close` when it is over."""

    def __init__(self, run: Run, site: ServiceSite, children: Children) -> None:
        self._run, self._site, self._children = run, site, children
        self._desk, self._armed = Desk(), ArmedRuns(run, children)
        self._unmended = ""

    def close(self) -> None:
        self._desk.close()

    def inject(self, fault: PlannedFault, place: Place) -> Injected | None:
        """Runs the job to its end, or until it stops, with the fault on the way; then ends the fault. The job has still to be started again."""
        return self._strike(fault, place) if isinstance(fault, Strike) else None

    def _strike(self, strike: Strike, place: Place) -> Injected:
        fault, binding = strike.fault, place.binding
        struck = Struck(
            services=self._site.running,
            lines=self._site.lines,
            bound=self._site.bound_to(strike.on, binding),
            second_driver=lambda: self._second_driver(place),
        )

        def hit(process: int) -> None:
            struck.process = process
            fault.strike(struck)

        if self._unmended:
            raise StreamproofError(f"An earlier fault could not be mended: {self._unmended}")
        fault.make_ready(struck)
        ended: ChildResult | None = None
        try:
            with self._desk.expecting(hit) as call:
                try:
                    ended = self._meeting(call, fault, place)
                    struck.stopped_by = ended.code
                except ChildHung as hang:
                    hang.fired = call.fired
                    raise
                except ChildDied:
                    struck.stopped_by = ChildDied.code
            waited = not fault.over_next_batch or self._started_again(strike, place, struck)
            self._run.engine.wait_until_ended(str(binding.folder))
        finally:
            struck.end()
            self._mend(fault, struck)
        if call.problem:
            raise StreamproofError(f"The fault failed: {call.problem}")
        fired = call.fired and waited and fault.met(struck)
        return Injected(fired, unmet="" if fired else unmet(ended))

    def _started_again(self, strike: Strike, place: Place, struck: Struck) -> bool:
        """Starts the job while its service is still down; whether, when the driver died, the batch was committed and its rows waited."""
        binding, batch = place.binding, place.step.batch
        self._run.engine.wait_until_ended(str(binding.folder))
        died = struck.stopped_by not in ("", ChildDied.code)
        there = self._site.published(strike.on, binding)
        waited = died and batch not in there and waits(binding.folder, self._site.query_of(place.step), strike.on, batch)
        struck.later(lambda: strike.fault.mend(struck))
        again = f"{binding.folder.name}-again"
        self._children.start(again, binding, Conditions(read_state=False), recording=place.recording, struck=True).result()
        return waited

    def _mend(self, fault: ServiceFault, struck: Struck) -> None:
        """Ends a fault, and sees to it that its service runs; where that fails, no other fault is tried."""
        try:
            fault.mend(struck)
            revive(struck.services.get(fault.service))
        except Exception as problem:  # noqa: BLE001 -- clients of services raise what they like
            self._unmended = f"{fault.name}: {type(problem).__name__}: {problem}"

    def _meeting(self, call: Call, fault: ServiceFault, place: Place) -> ChildResult:
        """The job, which reports the step where the fault waits for it: a step of a service by itself, one of a file by the recording."""
        step, recording, binding = place.step, place.recording, place.binding
        name = f"{binding.folder.name}-struck"
        if fault.on_cluster:
            return self._on_cluster(name, place, call.told)
        if fault.over_next_batch:
            dies = arming(recording.steps, fault.dies_at(step), action=Action.DIE)
            with self._armed.armed(dies, recording, binding) as run:
                return run.start(read_state=False, crash_at=str(step), desk=call.told, struck=True)
        if step in recording.announced:
            reports = Conditions(read_state=False, crash_at=str(step), desk=call.told)
            return self._children.start(name, binding, reports, recording=recording, struck=True).result()
        calls = arming(recording.steps, step, action=Action.CALL)
        with self._armed.armed(calls, recording, binding, told=call.told) as run:
            return run.start(read_state=False, struck=True)

    def _on_cluster(self, identity: str, place: Place, desk: str) -> ChildResult:
        """The job on executors that are processes of their own."""
        master = self._site.cluster()
        jars = self._run.engine.spark.sparkContext.getConf().get("spark.jars") or ""
        task = self._children.task(identity, place.binding, place.recording)
        own = {
            "spark.master": master,
            "spark.executor.memory": own_jvm.MEMORY,
            "spark.executor.extraJavaOptions": f"-Djava.io.tmpdir={tempfile.gettempdir()}",
            "spark.executor.extraClassPath": jars.replace(",", os.pathsep).replace("file:", ""),
        }
        task = task.under(read_state=False, settings=own, crash_at=str(place.step), desk=desk)
        log = self._run.folder / f"{identity}.log"
        return own_jvm.finished(task, self._children.environment, log, 2 * patience(place.recording))

    def _second_driver(self, place: Place) -> None:
        """Another process runs the job on the same checkpoint to its end, or until it sees the other one; all else is a fault that failed."""
        identity = f"{place.binding.folder.name}-second"
        task = self._children.task(identity, place.binding, place.recording, Conditions(read_state=False))
        log = self._run.folder / f"{identity}.log"
        found = own_jvm.finished(task, self._children.environment, log, patience(place.recording))
        if found.code not in ("", TwoDrivers.code):
            raise StreamproofError(f"The second driver did not work: {found.message}")


def waits(folder: Path, query: str, output: str, batch: int) -> bool:
    """Whether a batch is committed, and its rows for an output are still staged, while the next one has its manifest."""
    checkpoint = folder / CHECKPOINT / query
    committed = (checkpoint / "commits" / str(batch)).exists()
    begun = (checkpoint / "_streamproof" / "manifests" / str(batch + 1)).exists()
    return committed and begun and any((folder / OUT / output_of(output) / "_staging").glob(f"{batch:06d}-*/*"))
