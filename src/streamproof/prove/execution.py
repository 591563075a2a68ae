"""Runs scenarios: recordings, images, live crashes; several children side by side on the warm JVM."""

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from streamproof.core.clock import monotonic_seconds
from streamproof.core.ids import new_id, short
from streamproof.core.verdict import Verdict
from streamproof.errors import (
    DiskFull,
    JvmGone,
    MachineShort,
    RegistryUnavailable,
    RemedyAction,
    SinkUnavailable,
    SourceUnavailable,
    StreamproofError,
)
from streamproof.prove import judging
from streamproof.prove.checkers import CheckResult, Undecided
from streamproof.prove.crashing import Crashes, left_open
from streamproof.prove.faults.on_files import NotMet
from streamproof.prove.faults.planned import ALONE, BESIDE, Place, injected
from streamproof.prove.judging import Outcome
from streamproof.prove.lineage.kept import Keeper
from streamproof.prove.plan.planning import Mode, ScenarioPlan
from streamproof.prove.process import machine, own_jvm
from streamproof.prove.process.children import Children
from streamproof.prove.process.machine import MachineDid
from streamproof.prove.process.task import STEPS, ChildResult, Conditions
from streamproof.prove.process.watched_steps import steps_in, steps_of_tasks
from streamproof.prove.process.zygote import ChildDied, ChildHung, Zygote
from streamproof.prove.record import journal as journals
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.recording import Recording
from streamproof.prove.record.steps import timeline
from streamproof.prove.subjects.subject import Subject

SIDE_BY_SIDE = 3
REPLAYED = Conditions(replay_last=True)
_LOOK_SECONDS = 0.5
_NO_JVM = "the JVM of the proof has ended, as it does where the system kills it for want of memory: a proof takes some 6 GB"
_REPLAYS = (RemedyAction.REPLAY_LAST, RemedyAction.MOVE_AWAY)
_TRIES = 3
"""How often a fault is tried that does not fire, and a run that the machine stopped: RocksDB compacts in the background, and may have made
other files by then; a machine that was too busy for a moment may not be any more.
"""
_UNDECIDED = {DiskFull.code: Undecided.DISK_FULL, JvmGone.code: Undecided.JVM_GONE}
"""By the code of what the machine did, why a scenario is unknown; else it is the machine."""
_NOT_ANSWERED = frozenset((SourceUnavailable.code, SinkUnavailable.code, RegistryUnavailable.code))
"""The codes of a job that waited in vain for a service. Where the machine is busy that is no wonder; twice is the job's failure."""


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
    not_met: NotMet | None = None
    unmet: str = ""
    why: Undecided = Undecided.HARNESS_FAILED


class Executor:
    """Runs the scenarios of one proof."""

    def __init__(self, subject: Subject, zygote: Zygote, allowed_hosts: Sequence[str] = (), keeper: Keeper | None = None) -> None:
        self.subject, self._children, self._zygote = subject, Children(subject, zygote, allowed_hosts), zygote
        self._keeper = keeper
        self._crashes, self._injectors = Crashes(subject, self._children), subject.injectors(self._children)
        self._number = 0
        self._hangs = False
        self._look: Callable[[Path], None] | None = None
        self._ended = threading.Event()
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
        MachineShort
            If the machine stopped it, each time.
        """
        for attempt in range(1, _TRIES + 1):
            try:
                return self._recorded(name, f"r{self._life}-{name}-{attempt}", settings, trace=trace)
            except MachineDid as did:
                if attempt == _TRIES or not self.subject.engine.alive:
                    raise _short(did) from None
                scenario = self.subject.binding(f"{self.subject.prefix}recording-{name}").folder
                self._close(scenario.name)
                for folder in (scenario, self.subject.folder / f"recording-{name}"):
                    shutil.rmtree(folder, ignore_errors=True)
        raise AssertionError("the last attempt returns or raises")

    def _recorded(self, name: str, identity: str, settings: Mapping[str, str] | None, *, trace: bool) -> Recording:
        started = monotonic_seconds()
        self.subject.engine.restart_maintenance()
        binding = self.subject.binding(f"{self.subject.prefix}recording-{name}", recording=identity, trace=trace)
        folder = self.subject.folder / f"recording-{name}"
        self.subject.engine.open_recording(identity, folder)
        self.subject.open_places(binding.folder.name)
        try:
            result = self._ended_by_itself(
                self._children.start(f"recording-{name}", binding, Conditions(trace=trace, settings=settings or {})), binding
            )
        finally:
            self.subject.engine.close_recording(identity)
        if result.code in _NOT_ANSWERED:
            raise MachineDid(result.code, result.message)
        if result.code:
            raise StreamproofError(f"The job stopped without any fault: {result.message}", remedy=result.remedy)
        if name == "default":
            self.subject.learn(binding.folder, result.notes, self._run_beside)
        steps = timeline(journals.read(folder, binding.folder), self.subject.layout)
        if not trace:
            self.subject.collect(binding.folder)
        announced, of_tasks = steps_in(binding.folder / STEPS), steps_of_tasks(binding.folder / STEPS)
        return Recording(
            name, folder, binding, steps, result.operators, monotonic_seconds() - started, settings or {}, announced, of_tasks
        )

    def _run_beside(self, name: str, binding: ScenarioBinding, settings: Mapping[str, str]) -> ChildResult:
        """Runs the subject on a folder that is no scenario's; MachineDid where the machine stopped it."""
        return self._ended_by_itself(self._children.start(name, binding, Conditions(read_state=False, settings=settings)), binding)

    def _ended_by_itself(self, running: "Future[ChildResult]", binding: ScenarioBinding) -> ChildResult:
        """The result of a run without any fault; StreamproofError where there is none: nothing can be proved then."""
        try:
            return running.result()
        except ChildHung as hang:
            self._stop_what_hangs(binding)
            raise StreamproofError(
                f"Nothing is known of the job: without any fault, {hang}.",
                required="A job ends by itself once its queries have taken all events that there are.",
                remedy="Look what it waits for after its last query, or take fewer events: --events 1000",
            ) from None
        except ChildDied as died:
            last = (str(died).strip().splitlines() or ["it said nothing"])[-1]
            raise StreamproofError(
                f"Nothing is known of the job: without any fault, its process ended before the job did ({last}).",
                required="The process of a job goes on until its queries have taken all events that there are.",
                remedy="Look whether the job ends it (os._exit, a signal, a crash in a library), and whether the machine has memory left.",
            ) from died

    # -- scenarios

    def run_all(
        self, plans: Sequence[ScenarioPlan], recordings: Mapping[str, Recording], stop: Callable[[], bool]
    ) -> Iterator[Outcome]:
        """Runs the scenarios side by side and judges each as it ends; stops handing out when `stop` says so.

        A fault on a service hits its neighbours too: those come last, one for each line to a service, or alone.
        """
        lanes: dict[str, list[ScenarioPlan]] = {}
        for plan in plans:
            lanes.setdefault(plan.injected.lane if plan.injected is not None else BESIDE, []).append(plan)
        beside, alone = lanes.pop(BESIDE, []), lanes.pop(ALONE, [])
        yield from self._side_by_side([beside], recordings, stop, of_each=SIDE_BY_SIDE + 1)
        yield from self._side_by_side(list(lanes.values()), recordings, stop, of_each=1)
        yield from self._side_by_side([alone], recordings, stop, of_each=1)

    def _side_by_side(
        self, lanes: Sequence[Sequence[ScenarioPlan]], recordings: Mapping[str, Recording], stop: Callable[[], bool], of_each: int
    ) -> Iterator[Outcome]:
        """Runs the scenarios of all lanes, at most `of_each` of a lane at a time."""
        pending = [list(lane) for lane in lanes]
        pool = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="scenario")
        try:
            running: dict[Future[Ran], int] = {}
            while any(pending) or running:
                for number, lane in enumerate(pending):
                    while lane and sum(each == number for each in running.values()) < of_each and not stop():
                        running[pool.submit(self._run, lane.pop(0), recordings)] = number
                if not running:
                    return
                done: set[Future[Ran]] = set()
                while not done:
                    done, _ = wait(running, _LOOK_SECONDS, return_when=FIRST_COMPLETED)
                    if self._ended.is_set():  # what ends now was killed, and says nothing
                        return
                for future in done:
                    del running[future]
                    ran = future.result()
                    yield self._judged(ran)
                    self._close(ran.folder.name)
                    shutil.rmtree(ran.folder, ignore_errors=True)
                with suppress(Exception):  # it keeps memory and open files bounded, and no verdict hangs on it
                    self.subject.engine.close_ended_stores()
                if stop():
                    pending = []
        except BaseException:  # what is asked for by a signal, a generator that is closed: no child is waited for then
            self.end()
            raise
        finally:
            pool.shutdown(wait=not self._ended.is_set(), cancel_futures=True)

    def end(self) -> None:
        """Ends every child at once, and hands out nothing any more: the proof was asked to end."""
        self._ended.set()
        self._zygote.end_all()
        own_jvm.end_all()

    def look_into(
        self,
        plan: ScenarioPlan,
        recordings: Mapping[str, Recording],
        at_crash: Callable[[Path], None],
        after: Callable[[Path], None],
    ) -> bool:
        """Runs a scenario once more, alone, for a look at its folder: as the crash has left it, and after the job has come back. Whether it did."""
        self._look = at_crash
        try:
            ran = self._run(plan, recordings)
        finally:
            self._look = None
        try:
            came_back = ran.result is not None and not ran.result.code
            if came_back:
                after(ran.folder)
            return came_back
        finally:
            self._close(ran.folder.name)
            shutil.rmtree(ran.folder, ignore_errors=True)

    def judge_recording(self, plan: ScenarioPlan, recording: Recording) -> Outcome:
        """The fault-free run is a scenario as well."""
        outcome = judging.judged(self.subject, plan, recording.binding.folder, fired=True, seconds=recording.seconds)
        self._keep(outcome)
        return outcome

    def close(self) -> None:
        for injector in self._injectors:
            injector.close()

    def _run(self, plan: ScenarioPlan, recordings: Mapping[str, Recording], tries: int = _TRIES) -> Ran:
        started = monotonic_seconds()
        recording = recordings[plan.recording]
        with self._lock:
            self._number += 1
            name = f"{self.subject.prefix}s{self._number:05d}"
        fired, rerun, unmet = False, tuple[int, ...](), ""
        binding = self.subject.binding(name, by_line=plan.injected.line if plan.injected is not None else "")
        restarted = binding if recording.name != "default" or plan.compared else binding.in_one_batch()
        try:
            self.subject.engine.forget()
            self.subject.require_services(look=plan.injected is None or plan.injected.lane == BESIDE)
            self.subject.open_places(name)
            if plan.injected is not None:
                assert plan.step is not None, "a fault is planned at a step"
                done = injected(self._injectors, plan.injected, Place(plan.step, plan.image, recording, binding))
                fired, unmet = done.fired, done.unmet
                if done.result is None:
                    rerun = left_open(binding.folder)
                elif fired or plan.mode is Mode.IMAGE or tries <= 1:
                    return Ran(plan, binding.folder, fired, done.result, "", monotonic_seconds() - started)
            else:
                crashed = self._crashes.bring_about(plan, recording, binding)
                fired, rerun, unmet = crashed.fired, crashed.rerun, crashed.unmet
            if not fired and plan.mode is not Mode.IMAGE and tries > 1:
                return self._once_more(plan, binding, recordings, tries)
            if self._look is not None:
                self._look(binding.folder)
            result = self._children.start(name, restarted, recording=recording).result()
            if plan.fault == "machine-death" and result.action in _REPLAYS:
                result = self._children.start(f"{name}-again", restarted, REPLAYED, recording=recording).result()
                if result.action in _REPLAYS and _moved_away(plan, binding.folder):
                    result = self._children.start(f"{name}-once-more", restarted, REPLAYED, recording=recording).result()
            if result.code in _NOT_ANSWERED and tries == _TRIES:
                return self._once_more(plan, binding, recordings, tries)
            if result.code and self.subject.remedy(binding.folder):
                result = self._children.start(f"{name}-again", restarted, recording=recording).result()
            return Ran(plan, binding.folder, fired, result, "", monotonic_seconds() - started, rerun, unmet=unmet)
        except NotMet as not_met:
            return Ran(plan, binding.folder, True, None, "", monotonic_seconds() - started, not_met=not_met)
        except ChildHung as hang:
            if tries == _TRIES and not self._hangs:  # a machine that is too busy looks like this too; twice is no chance
                self._stop_what_hangs(binding)
                return self._once_more(plan, binding, recordings, tries)
            self._hangs = True
            return self._hung(plan, binding, hang, fired or hang.fired, monotonic_seconds() - started)
        except MachineDid as did:
            gone = not self.subject.engine.alive
            if tries > 1 and not gone:
                return self._once_more(plan, binding, recordings, tries)
            why = Undecided.JVM_GONE if gone else _UNDECIDED.get(did.code, Undecided.MACHINE)
            said = _NO_JVM if gone else str(did)
            return Ran(plan, binding.folder, fired, None, said, monotonic_seconds() - started, why=why)
        except Exception as problem:  # noqa: BLE001  # whatever breaks in the harness, or in clients of services, the others go on (P6)
            self._close(name)
            gone = not self.subject.engine.alive
            of_machine = isinstance(problem, ChildDied) or machine.did(problem) is not None
            if not gone and tries > (1 if of_machine else _TRIES - 1):  # anything else is tried once more
                return self._once_more(plan, binding, recordings, tries)
            said = _NO_JVM if gone else f"{type(problem).__name__}: {problem}"
            why = Undecided.JVM_GONE if gone else Undecided.HARNESS_FAILED
            return Ran(plan, binding.folder, False, None, said, monotonic_seconds() - started, why=why)

    def _once_more(self, plan: ScenarioPlan, binding: ScenarioBinding, recordings: Mapping[str, Recording], tries: int) -> Ran:
        """Runs a scenario again, on a disk and in places of its own."""
        self._close(binding.folder.name)
        shutil.rmtree(binding.folder, ignore_errors=True)
        return self._run(plan, recordings, tries - 1)

    def _stop_what_hangs(self, binding: ScenarioBinding) -> None:
        with suppress(Exception):
            self.subject.engine.stop_queries(str(binding.folder))

    def _hung(self, plan: ScenarioPlan, binding: ScenarioBinding, hang: ChildHung, fired: bool, seconds: float) -> Ran:  # noqa: FBT001
        """What a job that hangs comes to: it did not come back if the fault was done; else nothing is known."""
        self._stop_what_hangs(binding)
        self._close(binding.folder.name)
        hung = ChildResult(hang.code, f"{hang}.", "Run this scenario alone and look what the job waits for.")
        return Ran(plan, binding.folder, fired, hung if fired else None, "" if fired else f"before its fault, {hang}", seconds)

    def _judged(self, ran: Ran) -> Outcome:
        """The verdict."""
        if ran.not_met is not None:
            return judging.not_met(ran.plan, ran.not_met, ran.seconds)
        if ran.result is None:
            return judging.broken(ran.plan, ran.why, ran.problem, ran.seconds)
        if ran.result.code:
            return judging.stopped(ran.plan, ran.result, fired=ran.fired, seconds=ran.seconds)
        outcome = judging.judged(self.subject, ran.plan, ran.folder, fired=ran.fired, seconds=ran.seconds, rerun=ran.rerun)
        self._keep(outcome)
        if ran.unmet:
            said = CheckResult("fault", Verdict.UNKNOWN, problem=ran.unmet, undecided=Undecided.NOT_FIRED)
            outcome = replace(outcome, checks=[said, *outcome.checks])
        return replace(outcome, notes=ran.result.notes, evidence=None)

    def _keep(self, outcome: Outcome) -> None:
        """Keeps what it takes to follow an event afterwards: the disk of the scenario goes."""
        if self._keeper is not None and outcome.evidence is not None:
            self._keeper.keep(outcome.plan.id, self.subject.lineage_events, lambda: self.subject.lineage(outcome.evidence))

    def _close(self, name: str) -> None:
        """What a scenario had in services goes; what cannot be removed goes with the services."""
        with suppress(Exception):
            self.subject.close_places(name)


def _short(did: MachineDid) -> MachineShort:
    """The error of a proof whose recordings the machine does not let come to their end, in one place."""
    return MachineShort(
        f"Nothing is known of the job: {did}.",
        required=f"The job was run {_TRIES} times without any fault, and the machine stopped it each time.",
        remedy="Run the proof again when the machine has less to do, or on one that has more memory, processes, open files and disk.",
    )


def _moved_away(plan: ScenarioPlan, folder: Path) -> bool:
    """Moves the published directories away that a power failure has torn, as the job asks for; whether there are any."""
    torn = {Path(path).parent for path in (plan.image.lost if plan.image else ()) if Path(path).parent.name.startswith("batch=")}
    there = [folder / published for published in torn if (folder / published).is_dir()]
    for published in there:
        published.rename(folder / f"torn-{published.parent.name}-{published.name}")
    return bool(there)
