"""A scenario that the machine stopped is run again on a disk of its own; where that does not help, nothing is known of it."""

import threading
import time
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.core.phases import StepName
from streamproof.errors import (
    DiskFull,
    JvmGone,
    MachineShort,
    SinkUnavailable,
    StreamproofError,
    TooManyOpenFiles,
)
from streamproof.prove import session
from streamproof.prove.checkers import Undecided
from streamproof.prove.crashing import Crashed
from streamproof.prove.execution import Executor
from streamproof.prove.faults.planned import ALONE, BESIDE, Injected, unmet
from streamproof.prove.plan.planning import Mode
from streamproof.prove.process.children import Children
from streamproof.prove.process.machine import MACHINE
from streamproof.prove.process.task import ChildResult
from streamproof.prove.process.zygote import ChildDied, ChildHung, _settle
from streamproof.prove.services.services import Services


class Scenarios:
    """A subject and its children; each run of the job ends as the next of `results` says."""

    prefix = ""

    def __init__(self, folder: Path, *results: ChildResult | Exception) -> None:
        self.folder, self.results = folder, list(results)
        self.engine = SimpleNamespace(forget=lambda: None, alive=True, stop_queries=lambda _: None)
        self.folders: list[str] = []
        self.services: Services | None = None
        self.lines: list[str] = []

    def binding(self, name: str, *, by_line: str = "", **_: Any) -> Any:
        self.folders.append(name)
        self.lines.append(by_line)
        (self.folder / name).mkdir(exist_ok=True)
        bound = SimpleNamespace(folder=self.folder / name)
        bound.in_one_batch = lambda: bound
        return bound

    def require_services(self, *, look: bool) -> None:
        if self.services is not None:
            self.services.require_alive(look=look)

    def injectors(self, _: Any) -> tuple[Any, ...]:
        return ()

    def open_places(self, name: str) -> None: ...

    def close_places(self, name: str) -> None: ...

    def remedy(self, folder: Path) -> None: ...

    def start(self, *_: Any, **__: Any) -> "Future[ChildResult]":
        future: Future[ChildResult] = Future()
        ended = self.results.pop(0)
        if isinstance(ended, Exception):
            future.set_exception(ended)
        else:
            _settle(future, ended)
        return future


STEP = StepName.parse("publish/exposure@1:after")
PLAN: Any = SimpleNamespace(recording="default", injected=None, mode=Mode.IMAGE, compared=False, fault="crash", id="x")
LOST = ChildResult(MACHINE, "the machine was too busy: Python worker failed to connect back.")
FILES = ChildResult(TooManyOpenFiles.code, "no further file")
FULL = ChildResult(DiskFull.code, "The disk is full")
KILLED = ChildDied("exit code -9")
HANGS = ChildHung(300.0)
SILENT = ChildResult(SinkUnavailable.code, "PostgreSQL does not answer.")
BROKEN = RuntimeError("a fault of the harness")


def executor(monkeypatch: pytest.MonkeyPatch, scenarios: Any) -> Executor:
    made = Executor(scenarios, SimpleNamespace())  # type: ignore[arg-type]
    monkeypatch.setattr(made, "_children", scenarios)
    monkeypatch.setattr(made, "_crashes", SimpleNamespace(bring_about=lambda *_: Crashed(True, ())))
    return made


@pytest.mark.parametrize(
    "lost",
    [LOST, FILES, FULL, KILLED, HANGS, SILENT, BROKEN],
    ids=["busy", "files", "disk", "killed", "hangs", "silent", "broken"],
)
def test_it_is_run_again_on_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: ChildResult | Exception) -> None:
    scenarios = Scenarios(tmp_path, lost, ChildResult())

    ran = executor(monkeypatch, scenarios)._run(PLAN, {"default": SimpleNamespace(name="default")})  # type: ignore[dict-item]

    assert (ran.result, ran.fired, scenarios.folders) == (ChildResult(), True, ["s00001", "s00002"])
    assert [path.name for path in tmp_path.iterdir()] == ["s00002"], "what the first left is removed"


@pytest.mark.parametrize(
    ("lost", "why"),
    [(LOST, "machine"), (FILES, "machine"), (FULL, "disk-full"), (KILLED, "harness-failed")],
    ids=["busy", "files", "disk", "killed"],
)
def test_three_times_in_vain_is_unknown_and_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: ChildResult | Exception, why: str
) -> None:
    made = executor(monkeypatch, Scenarios(tmp_path, lost, lost, lost))

    outcome = made._judged(made._run(PLAN, {"default": SimpleNamespace(name="default")}))  # type: ignore[dict-item]

    assert outcome.verdict == "unknown"
    assert outcome.checks[0].undecided == why


def test_a_job_that_hangs_twice_fails_and_the_next_one_is_not_waited_for_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenarios = Scenarios(tmp_path, HANGS, HANGS, HANGS)
    made = executor(monkeypatch, scenarios)

    for _ in range(2):
        ran = made._run(PLAN, {"default": SimpleNamespace(name="default")})  # type: ignore[dict-item]
        assert ran.result is not None
        assert ran.result.code == "job-hangs"

    assert scenarios.results == []


def test_after_a_service_has_died_every_scenario_is_unknown_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios, broker = Scenarios(tmp_path, ChildResult()), SimpleNamespace(dead="")
    scenarios.services = Services(tmp_path, ["kafka"], running={"kafka": broker})  # type: ignore[dict-item]
    made = executor(monkeypatch, scenarios)
    recordings: Any = {"default": SimpleNamespace(name="default")}
    struck: Any = SimpleNamespace(**{**vars(PLAN), "injected": SimpleNamespace(lane="kafka", line="")})

    before = made._run(PLAN, recordings)
    broker.dead = "Kafka broker 1 has ended: No space left on device"
    after = [made._run(plan, recordings) for plan in (PLAN, PLAN, struck)]

    assert before.result is not None
    assert [ran.why for ran in after] == [Undecided.HARNESS_FAILED] * 3
    assert all("A service of the proof has died: Kafka broker 1 has ended: No space left" in ran.problem for ran in after)


def test_a_fault_that_ends_a_service_on_purpose_is_no_death(tmp_path: Path) -> None:
    services = Services(tmp_path, ["kafka"], running={"kafka": SimpleNamespace(dead="Kafka broker 1 has ended")})  # type: ignore[dict-item]

    services.require_alive(look=False)

    assert services.alive


def test_where_the_jvm_is_gone_nothing_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = Scenarios(tmp_path, ChildResult(JvmGone.code, "The JVM is gone."))
    scenarios.engine.alive = False
    made = executor(monkeypatch, scenarios)

    (check,) = made._judged(made._run(PLAN, {"default": SimpleNamespace(name="default")})).checks  # type: ignore[dict-item]

    assert (check.undecided, str(check.problem).partition(",")[0]) == ("jvm-gone", "the JVM of the proof has ended")


def test_a_service_that_does_not_answer_twice_is_the_jobs_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = executor(monkeypatch, Scenarios(tmp_path, SILENT, SILENT))

    assert made._judged(made._run(PLAN, {"default": SimpleNamespace(name="default")})).verdict == "fail"  # type: ignore[dict-item]


def test_a_recording_that_the_machine_stops_each_time_says_nothing_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenarios = Scenarios(tmp_path, LOST, LOST, LOST)
    scenarios.engine.restart_maintenance = lambda: None
    scenarios.engine.open_recording = scenarios.engine.close_recording = lambda *_: None

    with pytest.raises(MachineShort, match="Nothing is known of the job") as raised:
        executor(monkeypatch, scenarios).record("default")

    assert raised.value.exit_code == 3, "unknown, and no failure of the job"
    assert len(scenarios.folders) == 5, "it was run three times; each further run takes the folder away before"


def planned(mode: Mode, *, lane: str = "", name: str = "x") -> Any:
    fault = SimpleNamespace(name=name, lane=lane, line="a-service")
    return SimpleNamespace(**{**vars(PLAN), "id": name, "mode": mode, "injected": fault, "step": STEP, "image": None})


class Injectors:
    """Two of them: the second one has `results` for every fault, in their order."""

    def __init__(self, *results: Injected) -> None:
        self.results, self.asked, self.closed = list(results), list[str](), 0

    def __call__(self, _: Any) -> tuple[Any, ...]:
        other = SimpleNamespace(inject=lambda *_: None, close=self.close)
        return other, SimpleNamespace(inject=self.inject, close=self.close)

    def inject(self, fault: Any, place: Any) -> Injected:
        assert place.step is STEP
        self.asked.append(fault.name)
        return self.results.pop(0)

    def close(self) -> None:
        self.closed += 1


def test_a_fault_is_done_by_the_injector_whose_kind_it_is_whatever_the_subject_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after which the job is to be started again, and one that has seen to it that the job comes to its end."""
    scenarios = Scenarios(tmp_path, ChildResult())
    scenarios.injectors = injectors = Injectors(Injected(True), Injected(True, ChildResult("of-the-fault")))  # type: ignore[assignment]
    made = executor(monkeypatch, scenarios)

    started, ended = [made._run(planned(Mode.LIVE), {"default": SimpleNamespace(name="default")}) for _ in range(2)]  # type: ignore[dict-item]
    made.close()

    assert (started.fired, started.result, scenarios.results) == (True, ChildResult(), [])
    assert (ended.fired, ended.result) == (True, ChildResult("of-the-fault"))
    assert injectors.closed == 2
    assert scenarios.lines == ["a-service", "a-service"]


def test_a_live_fault_that_does_not_fire_is_tried_again_and_one_on_a_disk_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenarios = Scenarios(tmp_path)
    not_fired, fired = Injected(False, ChildResult()), Injected(True, ChildResult())
    scenarios.injectors = injectors = Injectors(not_fired, fired, not_fired)  # type: ignore[assignment]
    made = executor(monkeypatch, scenarios)

    live, on_a_disk = [made._run(planned(mode), {"default": SimpleNamespace(name="default")}) for mode in (Mode.LIVE, Mode.IMAGE)]  # type: ignore[dict-item]

    assert (live.fired, on_a_disk.fired, injectors.results) == (True, False, [])


def test_a_fault_that_was_not_met_says_how_the_job_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = Scenarios(tmp_path, ChildResult())
    said = unmet(ChildResult("sink-unavailable", "kafka does not answer"))
    scenarios.injectors = Injectors(*[Injected(False, unmet=said)] * 3)  # type: ignore[assignment]
    made = executor(monkeypatch, scenarios)

    outcome = made._judged(made._run(planned(Mode.LIVE), {"default": SimpleNamespace(name="default")}))  # type: ignore[dict-item]

    assert (outcome.verdict, outcome.fired) == ("unknown", False)
    assert outcome.checks[0].as_dict()["findings"][0]["what"] == "The job ended before the fault: kafka does not answer"
    assert [unmet(ended) for ended in (None, ChildResult())] == [
        "The job's process died before the fault.",
        "The job came to its end and did not meet the fault.",
    ]


def test_a_fault_that_nobody_does_is_unknown_and_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = executor(monkeypatch, Scenarios(tmp_path, ChildResult()))

    outcome = made._judged(made._run(planned(Mode.LIVE, name="of-nobody"), {"default": SimpleNamespace(name="default")}))  # type: ignore[dict-item]

    assert outcome.verdict == "unknown"
    assert "of-nobody is planned at publish/exposure@1:after, and nobody does it" in str(outcome.checks[0].problem)


def test_faults_that_hit_others_come_last_one_for_each_lane_or_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = executor(monkeypatch, Scenarios(tmp_path))
    rounds = list[tuple[list[list[str]], int]]()
    monkeypatch.setattr(
        made,
        "_side_by_side",
        lambda lanes, *_, of_each: rounds.append(([[plan.id for plan in lane] for lane in lanes], of_each)) or iter(()),
    )
    lanes = {"all": ALONE, "table": "postgres", "beside": BESIDE, "topic": "kafka", "rows": "postgres"}

    list(made.run_all([PLAN, *(planned(Mode.LIVE, lane=lane, name=name) for name, lane in lanes.items())], {}, bool))

    assert rounds == [([["x", "beside"]], 4), ([["table", "rows"], ["topic"]], 1), ([["all"]], 1)]


class Zygote:
    """What kills the children; whoever waits for one hears of it."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def end_all(self) -> None:
        self.ended.set()


@pytest.mark.parametrize("child_ends", [True, False], ids=["the child is killed", "something beside it hangs"])
def test_a_proof_that_is_asked_to_end_keeps_what_is_finished_and_waits_for_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child_ends: bool
) -> None:
    zygote, over, begun = Zygote(), threading.Event(), list[str]()
    made = Executor(Scenarios(tmp_path), zygote)  # type: ignore[arg-type]

    def runs(plan: Any, *_: Any) -> Any:
        begun.append(plan.id)
        if plan.id != "first":
            (zygote.ended if child_ends else over).wait(60)
        return SimpleNamespace(plan=plan, folder=tmp_path / plan.id)

    monkeypatch.setattr(made, "_run", runs)
    monkeypatch.setattr(made, "_judged", lambda ran: ran.plan.id)
    made.subject.engine.close_ended_stores = lambda: None  # type: ignore[method-assign]
    plans: Any = [SimpleNamespace(id=name, injected=None) for name in ("first", "second", "third", "fourth", "fifth")]

    finished = []
    for outcome in made.run_all(plans, {}, stop=lambda: made._ended.is_set()):
        finished.append(outcome)
        made.end()

    assert finished == ["first"]
    assert zygote.ended.is_set()
    assert "fifth" not in begun
    over.set()


def test_ctrl_c_in_whoever_asks_for_outcomes_ends_the_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zygote = Zygote()
    made = Executor(Scenarios(tmp_path), zygote)  # type: ignore[arg-type]

    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(made, "_run", lambda *_: zygote.ended.wait(60))
    monkeypatch.setattr("streamproof.prove.execution.wait", interrupted)
    plans: Any = [SimpleNamespace(id="first", injected=None)]

    with pytest.raises(KeyboardInterrupt):
        list(made.run_all(plans, {}, stop=bool))

    assert zygote.ended.is_set()


class Recorded(Scenarios):
    """The same, where a recording can be made."""

    def __init__(self, folder: Path, *results: ChildResult | Exception) -> None:
        super().__init__(folder, *results)
        self.stopped: list[str] = []
        for name in ("restart_maintenance", "open_recording", "close_recording"):
            setattr(self.engine, name, lambda *_: None)
        self.engine.stop_queries = self.stopped.append


@pytest.mark.parametrize(
    ("lost", "said"),
    [(ChildHung(1_800.0), "did not end within 1,800 seconds"), (KILLED, r"its process ended before the job did \(exit code -9\)")],
    ids=["hangs", "killed"],
)
def test_a_recording_that_does_not_come_to_its_end_is_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: Exception, said: str
) -> None:
    made = executor(monkeypatch, Recorded(tmp_path, lost, lost))

    with pytest.raises(StreamproofError, match=f"Nothing is known of the job: without any fault, .*{said}"):
        made.record("default")
    with pytest.raises(StreamproofError, match=said):
        made._run_beside("other", made.subject.binding("other"), {})


def _children(folder: Path, given: "list[tuple[float | None, Future[ChildResult]]]", close: Any) -> Children:
    def submit(_: object, patience: float | None = None) -> "Future[ChildResult]":
        given.append((patience, Future()))
        return given[-1][1]

    gateway = SimpleNamespace(port=1, secret="", close=close)
    subject: Any = SimpleNamespace(folder=folder, engine=SimpleNamespace(gateway=lambda: gateway), child=dict)
    return Children(subject, SimpleNamespace(submit=submit, environment={}))  # type: ignore[arg-type]


def _start(children: Children, folder: Path) -> None:
    places: dict[str, Any] = {"folder": folder, "base": "", "data": {}, "urls": {}, "environment": {}}
    children.start("r", SimpleNamespace(**places, files_per_batch=None, records_per_batch=None))  # type: ignore[arg-type]


def test_every_run_of_a_job_has_a_limit(tmp_path: Path) -> None:
    given: list[tuple[float | None, Future[ChildResult]]] = []

    _start(_children(tmp_path, given, lambda: None), tmp_path)

    assert [patience for patience, _ in given] == [1_800.0]


def test_who_tells_of_the_end_of_a_child_waits_for_no_jvm_and_hears_of_none_that_is_gone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    given: list[tuple[float | None, Future[ChildResult]]] = []
    closed, goes_on = threading.Event(), threading.Event()

    def close() -> None:
        closed.set()
        goes_on.wait(5)
        raise ConnectionError("the JVM is gone")

    _start(_children(tmp_path, given, close), tmp_path)
    began = time.monotonic()
    given[0][1].set_result(ChildResult())

    assert time.monotonic() - began < 4
    assert closed.wait(5)
    goes_on.set()
    assert caplog.records == []


def test_an_exception_raised_by_a_signal_does_not_wait_for_scenarios_that_are_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(BaseException):
        """As pytest-timeout raises it."""

    killed = threading.Event()

    def stop() -> bool:
        if made._number:
            raise Stopped
        return False

    def stuck(*_: object) -> None:
        made._number += 1
        killed.wait(20)

    made = executor(monkeypatch, Scenarios(tmp_path))
    made._zygote = SimpleNamespace(end_all=killed.set)  # type: ignore[assignment]
    monkeypatch.setattr(made, "_run", stuck)

    began = time.monotonic()
    with pytest.raises(Stopped):
        list(made._side_by_side([[PLAN], [PLAN]], {}, stop, of_each=1))
    assert killed.is_set()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("problem", "jvm"), [(SystemExit, True), (ValueError, False)])
def test_whatever_stops_the_preparation_ends_what_runs_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: type[BaseException], *, jvm: bool
) -> None:
    killed, ended = threading.Event(), []
    around = SimpleNamespace(services=("given",), child_python_path=None)
    options: Any = SimpleNamespace(surroundings=around)  # given services are waited for
    proof = session.Session(SimpleNamespace(modules=()), tmp_path, options, lambda _: None)  # type: ignore[arg-type]
    monkeypatch.setattr(session, "Zygote", lambda *_: SimpleNamespace(end_all=killed.set))
    monkeypatch.setattr(session._jvm, "end_jvm", lambda: ended.append(True))

    def stuck(_: object, beside: Any) -> None:
        beside.submit(killed.wait, 20)
        raise problem

    monkeypatch.setattr(proof, "_prepared", stuck)
    began = time.monotonic()
    with pytest.raises(problem):
        proof.prepare()
    assert time.monotonic() - began < 10
    assert bool(ended) is jvm


# -- a look into a scenario


def looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *results: ChildResult | Exception) -> tuple[bool, list[str]]:
    """Whether the job came back, and what was looked at, in its order."""
    made, seen = executor(monkeypatch, Scenarios(tmp_path, *results)), list[str]()

    def look(side: str) -> Any:
        return lambda folder: seen.append(f"{side} {folder.name} {folder.is_dir()}")

    recordings: Any = {"default": SimpleNamespace(name="default")}
    came_back = made.look_into(PLAN, recordings, look("crash"), look("after"))
    assert list(tmp_path.iterdir()) == [], "nothing of it stays"
    made._run(PLAN, recordings)
    return came_back, seen


def test_a_scenario_is_looked_into_as_the_crash_has_left_it_and_after_the_recovery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came_back, seen = looked_into(tmp_path, monkeypatch, ChildResult(), ChildResult())

    assert (came_back, seen) == (True, ["crash s00001 True", "after s00001 True"]), "the next run is not looked into"


@pytest.mark.parametrize("ended", [ChildResult("schema-changed", "the job stops"), FILES], ids=["stops", "machine"])
def test_of_a_job_that_does_not_come_back_there_is_the_crash_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: ChildResult
) -> None:
    runs = 3 if ended is FILES else 1
    came_back, seen = looked_into(tmp_path, monkeypatch, *[ended] * runs, ChildResult())

    assert not came_back
    assert {line.partition(" ")[0] for line in seen} == {"crash"}
