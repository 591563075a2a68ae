"""A scenario that the machine stopped is run again on a disk of its own; where that does not help, nothing is known of it."""

import threading
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.core.phases import StepName
from streamproof.errors import DiskFull, JvmGone, MachineShort, SinkUnavailable, TooManyOpenFiles
from streamproof.prove.crashing import Crashed
from streamproof.prove.execution import Executor
from streamproof.prove.faults.planned import ALONE, BESIDE, Injected
from streamproof.prove.plan.planning import Mode
from streamproof.prove.process.machine import MACHINE
from streamproof.prove.process.task import ChildResult
from streamproof.prove.process.zygote import ChildDied, ChildHung, _settle


class Scenarios:
    """A subject and its children; each run of the job ends as the next of `results` says."""

    prefix = ""

    def __init__(self, folder: Path, *results: ChildResult | Exception) -> None:
        self.folder, self.results = folder, list(results)
        self.engine = SimpleNamespace(forget=lambda: None, alive=True, stop_queries=lambda _: None)
        self.folders: list[str] = []
        self.lines: list[str] = []

    def binding(self, name: str, *, by_line: str = "", **_: Any) -> Any:
        self.folders.append(name)
        self.lines.append(by_line)
        (self.folder / name).mkdir(exist_ok=True)
        bound = SimpleNamespace(folder=self.folder / name)
        bound.in_one_batch = lambda: bound
        return bound

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
