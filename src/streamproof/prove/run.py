"""Proving a job: prepare, record, plan, run every scenario, judge, report."""

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from streamproof import _jvm
from streamproof.core.clock import monotonic_seconds
from streamproof.core.ends import End
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.prove import assembling, events
from streamproof.prove.execution import SIDE_BY_SIDE, Executor, agreement
from streamproof.prove.judging import Outcome
from streamproof.prove.plan.planning import (
    FAULT_FREE,
    LIVE_MODES,
    ScenarioPlan,
    brief,
    chosen,
)
from streamproof.prove.process import apart, guard
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.scratch import scratch
from streamproof.prove.process.spark_settings import SPARK
from streamproof.prove.process.touched import not_kept, touches
from streamproof.prove.process.zygote import Zygote
from streamproof.prove.record.recording import Recording
from streamproof.prove.services import Services, given
from streamproof.prove.subjects.subject import REPEATABLE, Preparation, Subject
from streamproof.runtime.spark.failures import telling_of_a_dead_jvm
from streamproof.runtime.spark.run_log import python_side

_BEGINS_ANEW = "The proof had not come to its scenarios; it begins anew. It takes some 6 GB."
JVM_LOG = "jvm.log"
"""In the folder of a proof: what its JVM writes to standard error, and PySpark where the conversation with it breaks off."""
_LOOK_SECONDS = 0.5
_SECONDS_EACH, _SECONDS_EACH_ON_SERVICES = 1.5, 5.0
"""What a scenario costs on two cores; on services it runs the whole job."""


@dataclass(frozen=True)
class Options:
    """What to prove and how much of it; see `streamproof.prove`."""

    target: str
    seed: int | None = None
    only: str | None = None
    full: bool = False
    quick: bool = False
    max_scenarios: int | None = None
    time_budget: timedelta | None = None
    stop_at_first: bool = False
    events: int | None = None
    batches: int | None = None
    ids: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    brokers: int = 1
    services: Mapping[str, str] = field(default_factory=dict)
    child_python_path: str | None = None
    profile: str | None = None
    brief: bool = False
    """Of a quick plan one crash in each phase."""
    words: tuple[str, ...] = ()
    """What a replay must say beside, such as the samples of a job that was not written for us."""

    def __post_init__(self) -> None:
        if self.quick and self.full:
            raise ScenarioError(
                "A quick plan and the full plan at once.",
                required="They exclude each other: --quick takes one crash for each kind of step, --full adds to the standard plan.",
                remedy="Leave one of them out.",
            )


@dataclass(frozen=True)
class PlanPreview:
    """The plan without running it: ids, durable steps, distinct disks, live crashes, seconds it will take about, other faults."""

    ids: list[str]
    steps: int
    distinct: int
    live: int
    seconds_estimate: float
    others: int = 0


@dataclass
class _Prepared:
    subject: Subject
    executor: Executor
    recordings: dict[str, Recording]
    plans: list[ScenarioPlan]
    fault_free: Outcome
    left_out: tuple[str, ...] = ()
    repeatable: bool = True
    java_kept: bool = True


def run_proof(
    preparation: Preparation,
    options: Options,
    folder: Path,
    listener: Callable[[events.Event], None] | None = None,
    end: threading.Event | None = None,
) -> dict[str, Any]:
    """Proves a subject and gives the report as data; `folder` is for what the proof writes meanwhile and does not keep in memory.

    `end` is set by whoever wants the proof to end: the report has what is finished then.

    Raises
    ------
    StreamproofError
        If the subject cannot be run at all.
    KeyboardInterrupt
        If it was asked to end before there was a plan.
    """
    tell = listener or _silent
    started, asked = monotonic_seconds(), end or threading.Event()
    with _session(preparation, folder, options, tell, asked) as proof:
        prepared = proof.prepare()
        plans = _wanted(prepared.plans, options)
        outcomes: list[Outcome] = [prepared.fault_free]
        how, cut_short = End.DONE, ""
        if not prepared.repeatable:
            how, cut_short = End.NOT_REPEATABLE, "two runs without any fault are not alike, so no crash was tried"
        elif prepared.fault_free.verdict is not Verdict.FAIL or not options.stop_at_first:
            more, how, cut_short = _run(prepared, plans, options, tell, started, asked)
            outcomes += more
        outcomes = _agreeing(outcomes)
        request = assembling.Request(
            options.target,
            preparation.seed,
            _plan_name(options, outcomes, prepared.plans),
            options.events,
            options.profile,
            how,
            cut_short,
            options.only,
            options.full,
            options.quick,
            options.batches,
            options.brokers,
            tuple(f"{name}={given.KINDS[name](url).shown}" for name, url in options.services.items()),
            prepared.left_out,
            proof.leave(),
            options.words,
            options.brief,
            not_kept(apart.state(), java_kept=prepared.java_kept),
        )
        seconds = monotonic_seconds() - started
        report = assembling.report(prepared.subject, request, prepared.recordings["default"], outcomes, seconds)
        tell(events.Finished())
        return report


def preview(
    preparation: Preparation,
    options: Options,
    folder: Path,
    listener: Callable[[events.Event], None] | None = None,
    end: threading.Event | None = None,
) -> PlanPreview:
    """Records the subject once and says what a proof would try."""
    tell = listener or _silent
    with _session(preparation, folder, options, tell, end or threading.Event()) as proof:
        prepared = proof.prepare()
        plans = _wanted(prepared.plans, options)
        images, live, others = _counted(plans)
        steps = len(prepared.recordings["default"].steps.steps)
        return PlanPreview([plan.id for plan in plans], steps, images, live, proof.seconds_each * len(plans), others)


@contextmanager
def _session(
    preparation: Preparation, folder: Path, options: Options, tell: Callable[[events.Event], None], asked: threading.Event
) -> Iterator["_Session"]:
    """A session of a proof, whose JVM may die: before there is a plan that is an error, later it is said of the scenarios that are left."""
    apart.writable(folder)
    apart.hide_servers()  # one may have been started since this process was set apart
    folder.mkdir(parents=True, exist_ok=True)
    with (
        python_side(folder / JVM_LOG),
        telling_of_a_dead_jvm(_BEGINS_ANEW, asked.is_set),
        _Session(preparation, folder, options, tell) as proof,
        _ending(proof, asked),
    ):
        try:
            yield proof
        except Exception as problem:
            if asked.is_set():  # its children were ended under it
                raise KeyboardInterrupt from problem
            raise


@contextmanager
def _ending(proof: "_Session", asked: threading.Event) -> Iterator[None]:
    """Ends the children of a proof as soon as it is asked to end, whatever it is doing."""
    over = threading.Event()

    def end() -> None:
        while not over.is_set():
            if asked.wait(_LOOK_SECONDS):
                proof.end_children()
                return

    threading.Thread(target=end, name="end-of-proof", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _silent(_: events.Event) -> None:
    """A listener that does nothing."""


@dataclass
class _Session:
    """The JVM, the services and the zygote of one proof; they end with it."""

    preparation: Preparation
    folder: Path
    options: Options
    tell: Callable[[events.Event], None]
    _subject: Subject | None = None
    _services: Services | None = None
    _zygote: Zygote | None = None
    _executor: Executor | None = None
    _engine: Engine | None = None
    _planned: bool = False
    _work: Path = field(init=False)
    _started: float = field(default_factory=monotonic_seconds)

    @property
    def seconds_each(self) -> float:
        """About how many seconds a scenario takes."""
        on_services = self._services is not None and self._services.names
        return _SECONDS_EACH_ON_SERVICES if on_services else _SECONDS_EACH

    def __enter__(self) -> "_Session":
        self._work = scratch(self.folder, self.preparation.records)
        apart.writable(self._work if self._work == self.folder else self._work.parent)  # Spark's own files lie beside
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.close()
        if self._zygote is not None:
            self._zygote.close()
        if self._subject is not None:
            self._subject.close()
        if self._engine is not None:
            with suppress(Exception):  # its JVM may have ended
                self._engine.release()
        if self._services is not None:
            self._services.stop()
        if self._work != self.folder:
            shutil.rmtree(self._work, ignore_errors=True)

    def end_children(self, *, jvm: bool = True) -> None:
        """Ends what runs the job, at once; before there is a plan the JVM too, since nothing is left that would be judged on it.

        After an error the JVM stays (`jvm`): the next proof finds it warm.
        """
        if self._executor is not None:
            self._executor.end()
        elif self._zygote is not None:
            self._zygote.end_all()
        if jvm and not self._planned:
            _jvm.end_jvm()

    def leave(self) -> list[str]:
        """Removes what was made in services that go on without the proof; says what could not be removed."""
        return self._services.leave() if self._services is not None else []

    def prepare(self) -> _Prepared:
        self._zygote = zygote = Zygote(self.folder / "children.log", self.options.child_python_path, self.preparation.modules)
        beside = ThreadPoolExecutor(1, thread_name_prefix="preparing")
        try:
            return self._prepared(zygote, beside)
        except BaseException as problem:  # what runs beside may wait for a child that never ends, and is waited for below
            self.end_children(jvm=not isinstance(problem, Exception))
            raise
        finally:  # an error, or Ctrl-C, does not wait for what goes on beside it
            beside.shutdown(
                wait=bool(self.options.services), cancel_futures=True
            )  # it would make topics where they are not removed any more

    def _prepared(self, zygote: Zygote, beside: ThreadPoolExecutor) -> _Prepared:
        """What needs no JVM is done while it starts, and the oracle looks at the events while the subject is recorded."""
        wanted, options = self.preparation, self.options
        given.required(options.services, wanted.services, tuple(wanted.stores.values()))
        self._services = services = Services(
            self.folder / "services",
            tuple(wanted.services),
            wanted.stores,
            options.brokers,
            options.services,
            proxied=wanted.struck,
        )
        services_started = beside.submit(services.start)
        made = beside.submit(wanted.make)
        local = None if self._work == self.folder else self._work.parent
        self.tell(events.Preparing(f"starting {' and '.join(('Spark', *wanted.services))}; making {wanted.events:,} events"))
        engine = Engine(
            f"prove {wanted.name}",
            wanted.spark,
            local,
            wanted.jars,
            briefly=options.quick,
            log=self.folder / JVM_LOG,
            kind=wanted.stands_on,
        )
        allowed = (*options.allowed_hosts, *given.hosts(options.services))
        self._engine = engine
        limits = guard.Limits(allowed, apart.folders(), own_network=apart.has_own_network())
        java_kept = engine.keep(limits)
        guard.allow_in_workers(engine.spark.sparkContext, limits)
        made.result()
        self.tell(
            events.Started(
                job=wanted.name,
                events=wanted.events,
                noun=wanted.noun,
                seed=wanted.seed,
                batches=wanted.batches,
                spark=engine.versions["spark"],
                master=SPARK["spark.master"],
                touches=touches(apart.state(), allowed, java_kept=java_kept),
                settings=wanted.settings,
            )
        )
        if not services_started.done():
            self.tell(events.Preparing(f"waiting for {' and '.join(wanted.services)}"))
        services_started.result()
        self.tell(events.Recording(0, wanted.batches))
        self._subject = subject = wanted.subject(engine, self._work, services)
        foreseen = beside.submit(subject.foresee)
        self._executor = executor = Executor(subject, zygote, allowed)
        recording = executor.record("default")
        foreseen.result()
        shipped = beside.submit(executor.record, "shipped", trace=False)
        fault_free = executor.judge_recording(FAULT_FREE, recording)
        compared = subject.compare(recording, shipped.result())
        repeatable = all(check.verdict is not Verdict.FAIL for check in compared if check.name == REPEATABLE)
        checks = [*fault_free.checks, *compared] if repeatable else [*compared, *fault_free.checks]
        fault_free = replace(fault_free, checks=checks)
        recordings = {"default": recording}
        if options.full and not services.names:
            recordings["rare"] = executor.record("rare", settings=subject.rare)
        plans, left_out = subject.plans(recordings, full=options.full, quick=options.quick)
        if options.brief:
            plans = brief(plans)
        self.tell(events.Recording(wanted.batches, wanted.batches))
        images, live, others = _counted(plans)
        seconds = monotonic_seconds() - self._started
        self._planned = True
        self.tell(events.Recorded(len(recording.steps.steps), images, live, seconds, others))
        return _Prepared(subject, executor, recordings, plans, fault_free, left_out, repeatable, java_kept)


def _counted(plans: Sequence[ScenarioPlan]) -> tuple[int, int, int]:
    """How many scenarios are disks to recover from, live crashes, and other faults."""
    images, others = sum(plan.is_disk for plan in plans), sum(bool(plan.strike or plan.on_files) for plan in plans)
    return images, len(plans) - images - others, others


def _wanted(plans: Sequence[ScenarioPlan], options: Options) -> list[ScenarioPlan]:
    wanted = chosen(plans, options.only)
    if options.ids:
        wanted = [plan for plan in wanted if plan.id in options.ids]
        if not wanted and tuple(options.ids) != (FAULT_FREE.id,):
            raise ScenarioError(
                "None of the scenarios that are asked for, or failed last time, is in this plan.",
                remedy="Run the proof without --last-failed.",
            )
    return wanted


def _run(
    prepared: _Prepared,
    plans: Sequence[ScenarioPlan],
    options: Options,
    tell: Callable[[events.Event], None],
    started: float,
    asked: threading.Event,
) -> tuple[list[Outcome], End, str]:
    """Runs the plans within the budget; says whether, and in words why, the plan was cut short."""
    limited = list(plans)[: options.max_scenarios] if options.max_scenarios is not None else list(plans)
    outcomes: list[Outcome] = []
    begun = monotonic_seconds()

    def out_of_time() -> bool:
        budget = options.time_budget
        return budget is not None and monotonic_seconds() - started > budget.total_seconds()

    def stop() -> bool:
        return (
            asked.is_set()
            or out_of_time()
            or (options.stop_at_first and any(outcome.verdict is Verdict.FAIL for outcome in outcomes))
        )

    if limited:
        tell(events.Proving(0, len(limited), limited[0].id, None))
    try:
        for outcome in prepared.executor.run_all(limited, prepared.recordings, stop):
            outcomes.append(outcome)
            if outcome.verdict is Verdict.FAIL:
                tell(events.Failed(outcome.plan.id, monotonic_seconds() - started))
            left = (monotonic_seconds() - begun) / len(outcomes) * (len(limited) - len(outcomes))
            tell(events.Proving(len(outcomes), len(limited), outcome.plan.id, left if len(outcomes) > SIDE_BY_SIDE else None))
    except KeyboardInterrupt:
        asked.set()
    if asked.is_set() and len(outcomes) < len(plans):
        return outcomes, End.INTERRUPTED, f"it was interrupted after {len(outcomes)} of {len(plans)} scenarios"
    if len(outcomes) == len(plans):
        return outcomes, End.DONE, ""
    if options.stop_at_first and any(outcome.verdict is Verdict.FAIL for outcome in outcomes):
        return outcomes, End.FIRST_FAILURE, "it stopped at the first failure"
    end = End.TIME_BUDGET if out_of_time() else End.MAX_SCENARIOS
    why = "the time budget was used up" if end is End.TIME_BUDGET else f"--max-scenarios {options.max_scenarios}"
    return outcomes, end, f"{why} after {len(outcomes)} of {len(plans)} scenarios"


def _agreeing(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Adds to each live scenario whether it agrees with the image of the same step, where that ran too."""
    images = {name: outcome for outcome in outcomes if outcome.plan.is_disk for name in outcome.plan.names}
    found = []
    for outcome in outcomes:
        if outcome.plan.mode in LIVE_MODES and outcome.plan.on_files is None:
            image = images.get(str(outcome.plan.step))
            if image is not None:  # without the image nothing was compared, and nothing is claimed
                outcome = replace(outcome, checks=[*outcome.checks, agreement(outcome, image)])
        found.append(outcome)
    return found


def _plan_name(options: Options, outcomes: Sequence[Outcome], plans: Sequence[ScenarioPlan]) -> str:
    if options.only is not None or options.ids or len(outcomes) - 1 < len(plans):
        return "part"
    return "brief" if options.brief else "quick" if options.quick else "full" if options.full else "standard"
