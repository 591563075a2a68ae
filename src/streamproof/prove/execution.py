"""Runs scenarios: recordings, images, live crashes; several children side by side on the warm JVM."""

import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from streamproof.core.clock import monotonic_seconds
from streamproof.core.ids import new_id, short
from streamproof.core.phases import StepName
from streamproof.core.verdict import Verdict
from streamproof.errors import DISK_FULL, StreamproofError
from streamproof.prove import judging
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.child import ChildResult, ChildTask
from streamproof.prove.comparing import rows_digest
from streamproof.prove.judging import Outcome
from streamproof.prove.outside.crash import FIRED, steps_in
from streamproof.prove.planning import Mode, ScenarioPlan
from streamproof.prove.record import journal as journals
from streamproof.prove.record.build import build
from streamproof.prove.record.live import Action, arming
from streamproof.prove.record.steps import Timeline, timeline
from streamproof.prove.setting import Setting, layout_of
from streamproof.prove.world import World
from streamproof.prove.zygote import ChildDied, Zygote

SIDE_BY_SIDE = 3
STEPS = "steps-in-services"


@dataclass(frozen=True)
class Recording:
    """A recorded run: its folder of blobs and journal, its steps, and those that were taken in services."""

    name: str
    folder: Path
    setting: Setting
    steps: Timeline
    operators: Mapping[str, Mapping[str, str]]
    seconds: float
    settings: Mapping[str, str]
    announced: Sequence[StepName] = ()

    @property
    def blobs(self) -> Path:
        return self.folder / journals.BLOBS


@dataclass(frozen=True)
class Ran:
    """A scenario's disk after recovery, or why there is none."""

    plan: ScenarioPlan
    folder: Path
    fired: bool
    result: ChildResult | None
    problem: str
    seconds: float
    rerun: tuple[int, ...] = ()


class Executor:
    """Runs the scenarios of one proof."""

    def __init__(self, world: World, zygote: Zygote, allowed_hosts: Sequence[str] = ()) -> None:
        self.world, self._zygote, self._hosts = world, zygote, tuple(allowed_hosts)
        self._number = 0
        self._lock = threading.Lock()
        # Never the same id twice in one JVM: threads of an earlier proof would write into the new recording.
        self._life = short(new_id())

    # -- recording

    def record(self, name: str, *, settings: Mapping[str, str] | None = None, trace: bool = True) -> Recording:
        """Runs the job once without a fault on the recording filesystem.

        Raises
        ------
        StreamproofError
            What stopped the job.
        """
        started = monotonic_seconds()
        self.world.engine.restart_maintenance()
        identity = f"r{self._life}-{name}"
        setting = self.world.setting(f"recording-{name}", recording=identity, trace=trace)
        folder = self.world.folder / f"recording-{name}"
        self.world.engine.open_recording(identity, folder)
        self.world.open_places(setting.folder.name)
        try:
            result = self._child(f"recording-{name}", setting, settings=settings or {}, trace=trace).result()
        finally:
            self.world.engine.close_recording(identity)
        if result.error:
            raise StreamproofError(f"The job stopped without any fault: {result.message}", remedy=result.remedy)
        steps = timeline(journals.read(folder, setting.folder), layout_of(self.world.bound))
        if not trace:
            self.world.harvest(setting.folder)
        announced = steps_in(setting.folder / STEPS)
        return Recording(name, folder, setting, steps, result.operators, monotonic_seconds() - started, settings or {}, announced)

    # -- scenarios

    def run_all(
        self, plans: Sequence[ScenarioPlan], recordings: Mapping[str, Recording], stop: Callable[[], bool]
    ) -> Iterator[Outcome]:
        """Runs the scenarios side by side and judges each as it ends; stops handing out when `stop` says so."""
        pending = list(plans)
        with ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="scenario") as pool:
            running: set[Future[Ran]] = set()
            while pending or running:
                while pending and len(running) < SIDE_BY_SIDE + 1 and not stop():
                    running.add(pool.submit(self._run, pending.pop(0), recordings))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    ran = future.result()
                    yield self._judged(ran, keep_rows=ran.plan.compared)
                    self._close(ran.folder.name)
                    shutil.rmtree(ran.folder, ignore_errors=True)
                if stop():
                    pending.clear()

    def judge_recording(self, plan: ScenarioPlan, recording: Recording) -> Outcome:
        """The fault-free run is a scenario as well."""
        return judging.judged(self.world, plan, recording.setting.folder, fired=True, seconds=recording.seconds)

    def _run(self, plan: ScenarioPlan, recordings: Mapping[str, Recording]) -> Ran:
        started = monotonic_seconds()
        recording = recordings[plan.recording]
        with self._lock:
            self._number += 1
            name = f"s{self._number:05d}"
        setting = self.world.setting(name)
        restarted = setting if recording.name != "default" or plan.compared else setting.in_one_batch()
        try:
            self.world.open_places(name)
            if plan.mode is Mode.IMAGE:
                fired, rerun = self._rebuild(plan, recording, setting)
            else:
                fired, rerun = self._crash(plan, recording, setting)
            result = self._child(name, restarted, recording=recording).result()
            if result.error and plan.fault == "machine-death" and "--replay-last" in result.remedy:
                result = self._child(f"{name}-again", restarted, recording=recording, replay_last=True).result()
            return Ran(plan, setting.folder, fired, result, "", monotonic_seconds() - started, rerun)
        except (ChildDied, StreamproofError, OSError) as problem:
            self._close(name)
            return Ran(plan, setting.folder, False, None, f"{type(problem).__name__}: {problem}", monotonic_seconds() - started)

    def _judged(self, ran: Ran, *, keep_rows: bool) -> Outcome:
        """The verdict; of what is published only a digest is kept, where a live crash is to be compared with its image."""
        if ran.result is None:
            return judging.broken(ran.plan, ran.problem, ran.seconds)
        if ran.result.error and ran.result.message.startswith(DISK_FULL):  # a proof's own disk: a job writes to no other in it
            return judging.broken(ran.plan, ran.result.message, ran.seconds)
        if ran.result.error:
            return judging.stopped(ran.plan, ran.result.message, ran.result.remedy, fired=ran.fired, seconds=ran.seconds)
        outcome = judging.judged(self.world, ran.plan, ran.folder, fired=ran.fired, seconds=ran.seconds, rerun=ran.rerun)
        published = rows_digest(outcome.history) if keep_rows and outcome.history is not None else ""
        return replace(outcome, notes=ran.result.notes, history=None, published=published)

    def _close(self, name: str) -> None:
        """What a scenario had in services goes; what cannot be removed goes with the services."""
        with suppress(Exception):
            self.world.close_places(name)

    def _rebuild(self, plan: ScenarioPlan, recording: Recording, setting: Setting) -> tuple[bool, tuple[int, ...]]:
        assert plan.image is not None
        built = build(plan.image, setting.folder, recording.blobs, layout_of(self.world.bound))
        return built.fired(), _planned_not_committed(plan.image.files)

    def _crash(self, plan: ScenarioPlan, recording: Recording, setting: Setting) -> tuple[bool, tuple[int, ...]]:
        assert plan.step is not None
        if plan.mode is Mode.KILL:
            from streamproof.prove.killing import kill_at

            fired = kill_at(self.world, recording, plan.step, setting, self._task, self._zygote.environment)
        elif plan.image is None:
            fired = self._die_in_service(plan.step, recording, setting)
        else:
            identity = f"l{self._life}-{setting.folder.name}"
            recorded = replace(setting, base=f"sp-record://{identity}{setting.folder}")
            self.world.engine.open_recording(identity, self.world.folder / identity)
            try:
                self.world.engine.arm(identity, *arming(recording.steps, plan.step, action=Action.DIE).arguments())
                result = self._child(identity, recorded, recording=recording, read_state=False).result()
                fired = self.world.engine.fired(identity) and bool(result.error)
            finally:
                self.world.engine.close_recording(identity)
                shutil.rmtree(self.world.folder / identity, ignore_errors=True)
        left = {str(path.relative_to(setting.folder)) for path in setting.folder.rglob("*") if path.is_file()}
        return fired, _planned_not_committed(left)

    def _die_in_service(self, step: StepName, recording: Recording, setting: Setting) -> bool:
        """Runs the job until it takes a step in a service, and kill -9 ends driver and task there."""
        running = self._child(f"{setting.folder.name}-dies", setting, recording=recording, read_state=False, crash_at=str(step))
        with suppress(ChildDied):
            running.result()
        self.world.engine.wait_until_ended(str(setting.folder))
        return Path(f"{setting.folder / STEPS}.{FIRED}").exists()

    def _child(
        self,
        identity: str,
        setting: Setting,
        *,
        recording: Recording | None = None,
        settings: Mapping[str, str] | None = None,
        trace: bool = True,
        replay_last: bool = False,
        read_state: bool = True,
        crash_at: str = "",
    ) -> "Future[ChildResult]":
        gateway = self.world.engine.gateway()
        setting.folder.mkdir(parents=True, exist_ok=True)
        task = self._task(identity, setting, recording)
        task = replace(
            task,
            port=gateway.port,
            secret=gateway.secret,
            trace=trace,
            replay_last=replay_last,
            read_state=read_state,
            crash_at=crash_at,
            settings={**task.settings, **(settings or {})},
        )
        future = self._zygote.submit(task)
        future.add_done_callback(lambda _: gateway.close())
        return future

    def _task(self, identity: str, setting: Setting, recording: Recording | None) -> ChildTask:
        config = self.world.config
        results = self.world.folder / "children"
        results.mkdir(exist_ok=True)
        return ChildTask(
            id=identity,
            target=str(config.file),
            entry=config.entry,
            profile=config.profile,
            base=setting.base,
            folder=str(setting.folder),
            data=setting.data,
            files_per_batch=setting.files_per_batch,
            records_per_batch=setting.records_per_batch,
            urls=setting.urls,
            environment=setting.environment,
            steps=str(setting.folder / STEPS) if setting.urls else "",
            port=0,
            secret="",
            result=str(results / f"{identity}.json"),
            operators=recording.operators if recording else None,
            settings=dict(recording.settings) if recording else {},
            allowed_hosts=self._hosts,
        )


def agreement(live: Outcome, image: Outcome) -> CheckResult:
    """A live crash and the image of the same step must come to the same end (R16): verdict, account, and published rows."""
    if (live.verdict, live.account, live.published) == (image.verdict, image.account, image.published):
        return CheckResult("agreement", Verdict.PASS)
    what = "the live crash and the image of the same step disagree"
    if (live.verdict, live.account) == (image.verdict, image.account):
        what += " in the rows that are published"
    finding = Finding(None, what, None, f"image: {image.verdict}, {image.account}", f"live: {live.verdict}, {live.account}")
    return CheckResult("agreement", Verdict.FAIL, (finding,), 1)


def _planned_not_committed(files: Iterable[str]) -> tuple[int, ...]:
    """The batches that were planned when the crash came and run again."""
    numbers: dict[str, set[int]] = {"offsets": set(), "commits": set()}
    for path in files:
        parts = path.split("/")
        if len(parts) > 1 and parts[-2] in numbers and parts[-1].isdigit():
            numbers[parts[-2]].add(int(parts[-1]))
    return tuple(sorted(numbers["offsets"] - numbers["commits"]))
