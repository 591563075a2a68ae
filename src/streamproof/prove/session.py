"""The JVM, the services and the processes of one proof, until it ends or is asked to end."""

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from streamproof import _jvm
from streamproof.core.clock import monotonic_seconds
from streamproof.core.verdict import Verdict
from streamproof.prove import events
from streamproof.prove.execution import Executor
from streamproof.prove.judging import Outcome
from streamproof.prove.lineage.kept import FOLDER, Keeper
from streamproof.prove.options import Options
from streamproof.prove.plan.planning import FAULT_FREE, ScenarioPlan, brief
from streamproof.prove.process import apart, guard
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.scratch import scratch
from streamproof.prove.process.spark_settings import SPARK
from streamproof.prove.process.touched import touches
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
Made = TypeVar("Made")
_SECONDS_EACH, _SECONDS_EACH_ON_SERVICES = 1.5, 5.0
"""What a scenario costs on two cores; on services it runs the whole job."""


@dataclass
class Prepared:
    """What a proof has once the subject is recorded: its plan, and the run without a fault."""

    subject: Subject
    executor: Executor
    recordings: dict[str, Recording]
    plans: list[ScenarioPlan]
    fault_free: Outcome
    left_out: tuple[str, ...] = ()
    repeatable: bool = True
    java_kept: bool = True


@contextmanager
def session(
    preparation: Preparation, folder: Path, options: Options, tell: Callable[[events.Event], None], asked: threading.Event
) -> Iterator["Session"]:
    """A session of a proof, whose JVM may die: before there is a plan that is an error, later it is said of the scenarios that are left."""
    apart.writable(folder)
    apart.hide_servers()  # one may have been started since this process was set apart
    folder.mkdir(parents=True, exist_ok=True)
    with (
        python_side(folder / JVM_LOG),
        telling_of_a_dead_jvm(_BEGINS_ANEW, asked.is_set),
        Session(preparation, folder, options, tell) as proof,
        _ending(proof, asked),
    ):
        try:
            yield proof
        except Exception as problem:
            if asked.is_set():  # its children were ended under it
                raise KeyboardInterrupt from problem
            raise


@contextmanager
def _ending(proof: "Session", asked: threading.Event) -> Iterator[None]:
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


@dataclass
class Session:
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
    _allowed: tuple[str, ...] = ()
    _work: Path = field(init=False)
    _started: float = field(default_factory=monotonic_seconds)

    @property
    def seconds_each(self) -> float:
        """About how many seconds a scenario takes."""
        on_services = self._services is not None and self._services.names
        return _SECONDS_EACH_ON_SERVICES if on_services else _SECONDS_EACH

    def __enter__(self) -> "Session":
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

    def prepare(self) -> Prepared:
        """The plan, and the run without a fault."""
        return self._beside(self._prepared)

    def open(self) -> Subject:
        """The subject alone: nothing is recorded."""
        subject, _, _ = self._beside(self._opened)
        self._planned = True
        return subject

    @contextmanager
    def trying(self, preparation: Preparation, name: str, keeper: Keeper | None = None) -> Iterator[Executor]:
        """Runs scenarios of the same subject with other events, in a folder of their own that goes afterwards. The session is open.

        `keeper` keeps what it takes to follow their events.
        """
        assert self._engine is not None, "it is open"
        assert self._services is not None, "it is open"
        assert self._zygote is not None, "it is open"
        folder = self._work / name
        folder.mkdir(parents=True)
        preparation.make()
        subject = preparation.subject(self._engine, folder, self._services)
        self._executor = executor = Executor(subject, self._zygote, self._allowed, keeper)
        try:
            yield executor
        finally:
            executor.close()
            subject.close()
            shutil.rmtree(folder, ignore_errors=True)

    def _beside(self, what: Callable[[Zygote, ThreadPoolExecutor], Made]) -> Made:
        self._zygote = zygote = Zygote(
            self.folder / "children.log", self.options.surroundings.child_python_path, self.preparation.modules
        )
        beside = ThreadPoolExecutor(1, thread_name_prefix="preparing")
        try:
            return what(zygote, beside)
        except BaseException as problem:  # what runs beside may wait for a child that never ends, and is waited for below
            self.end_children(jvm=not isinstance(problem, Exception))
            raise
        finally:  # an error, or Ctrl-C, does not wait for what goes on beside it
            beside.shutdown(
                wait=bool(self.options.surroundings.services), cancel_futures=True
            )  # it would make topics where they are not removed any more

    def _opened(self, zygote: Zygote, beside: ThreadPoolExecutor) -> tuple[Subject, Services, bool]:
        """What needs no JVM is done while it starts. Says of Java whether it is kept from real places."""
        wanted, selection, around = self.preparation, self.options.selection, self.options.surroundings
        given.required(around.services, wanted.services, tuple(wanted.stores.values()))
        self._services = services = Services(
            self.folder / "services",
            tuple(wanted.services),
            wanted.stores,
            around.brokers,
            around.services,
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
            briefly=selection.quick,
            log=self.folder / JVM_LOG,
            kind=wanted.stands_on,
        )
        self._allowed = allowed = (*around.allowed_hosts, *given.hosts(around.services))
        self._engine = engine
        limits = guard.Limits(allowed, apart.folders(), own_network=apart.has_own_network())
        java_kept = engine.keep(limits)
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
        self._subject = subject = wanted.subject(engine, self._work, services)
        return subject, services, java_kept

    def _prepared(self, zygote: Zygote, beside: ThreadPoolExecutor) -> Prepared:
        """The oracle looks at the events while the subject is recorded."""
        subject, services, java_kept = self._opened(zygote, beside)
        wanted, selection = self.preparation, self.options.selection
        self.tell(events.Recording(0, wanted.batches))
        foreseen = beside.submit(subject.foresee)
        self._executor = executor = Executor(subject, zygote, self._allowed, Keeper(self.folder / FOLDER))
        recording = executor.record("default")
        foreseen.result()
        shipped = beside.submit(executor.record, "shipped", trace=False)
        fault_free = executor.judge_recording(FAULT_FREE, recording)
        compared = subject.compare(recording, shipped.result())
        repeatable = all(check.verdict is not Verdict.FAIL for check in compared if check.name == REPEATABLE)
        checks = [*fault_free.checks, *compared] if repeatable else [*compared, *fault_free.checks]
        fault_free = replace(fault_free, checks=checks)
        recordings = {"default": recording}
        if selection.full and not services.names:
            recordings["rare"] = executor.record("rare", settings=subject.rare)
        plans, left_out = subject.plans(recordings, full=selection.full, quick=selection.quick)
        if selection.brief:
            plans = brief(plans)
        self.tell(events.Recording(wanted.batches, wanted.batches))
        images, live, others = counted(plans)
        seconds = monotonic_seconds() - self._started
        self._planned = True
        self.tell(events.Recorded(len(recording.steps.steps), images, live, seconds, others))
        self.tell(events.Planned(recording.points))
        return Prepared(subject, executor, recordings, plans, fault_free, left_out, repeatable, java_kept)


def counted(plans: Sequence[ScenarioPlan]) -> tuple[int, int, int]:
    """How many scenarios are disks to recover from, live crashes, and other faults."""
    images, others = sum(plan.is_disk for plan in plans), sum(plan.injected is not None for plan in plans)
    return images, len(plans) - images - others, others
