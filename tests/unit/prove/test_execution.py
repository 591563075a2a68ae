"""A scenario whose process the JVM could not call is run again on a disk of its own; where that does not help, nothing is known of it."""

import threading
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.errors import TooManyOpenFiles
from streamproof.prove.execution import Executor
from streamproof.prove.plan.planning import Mode
from streamproof.prove.process.child import NOT_REACHED, ChildResult


class Scenarios:
    """A subject and its children; each run of the job ends as the next of `results` says."""

    prefix = ""

    def __init__(self, folder: Path, *results: ChildResult) -> None:
        self.folder, self.results = folder, list(results)
        self.engine = SimpleNamespace(forget=lambda: None, alive=True)
        self.folders: list[str] = []

    def binding(self, name: str, **_: Any) -> Any:
        self.folders.append(name)
        (self.folder / name).mkdir()
        bound = SimpleNamespace(folder=self.folder / name)
        bound.in_one_batch = lambda: bound
        return bound

    def open_places(self, name: str) -> None: ...

    def close_places(self, name: str) -> None: ...

    def remedy(self, folder: Path) -> None: ...

    def start(self, *_: Any, **__: Any) -> "Future[ChildResult]":
        future: Future[ChildResult] = Future()
        future.set_result(self.results.pop(0))
        return future


PLAN: Any = SimpleNamespace(recording="default", strike=None, on_files=None, mode=Mode.IMAGE, compared=False, fault="crash", id="x")
LOST = ChildResult(NOT_REACHED, "the JVM could not call")


def executor(monkeypatch: pytest.MonkeyPatch, scenarios: Any) -> Executor:
    made = Executor(scenarios, SimpleNamespace())  # type: ignore[arg-type]
    monkeypatch.setattr(made, "_children", scenarios)
    monkeypatch.setattr(made, "_rebuild", lambda *_: (True, ()))
    return made


def test_it_is_run_again_on_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = Scenarios(tmp_path, LOST, ChildResult())

    ran = executor(monkeypatch, scenarios)._run(PLAN, {"default": SimpleNamespace(name="default")})  # type: ignore[dict-item]

    assert (ran.result, ran.fired, scenarios.folders) == (ChildResult(), True, ["s00001", "s00002"])
    assert [path.name for path in tmp_path.iterdir()] == ["s00002"], "what the first left is removed"


@pytest.mark.parametrize("results", [(LOST, LOST, LOST), (ChildResult(TooManyOpenFiles.code, "no further file"),)])
def test_three_times_in_vain_and_a_limit_of_files_are_unknown_and_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: tuple[ChildResult, ...]
) -> None:
    made = executor(monkeypatch, Scenarios(tmp_path, *results))

    ran = made._run(PLAN, {"default": SimpleNamespace(name="default")})  # type: ignore[dict-item]

    assert made._judged(ran).verdict == "unknown"


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
    plans: Any = [SimpleNamespace(id=name, strike=None, on_files=None) for name in ("first", "second", "third", "fourth", "fifth")]

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
    plans: Any = [SimpleNamespace(id="first", strike=None, on_files=None)]

    with pytest.raises(KeyboardInterrupt):
        list(made.run_all(plans, {}, stop=bool))

    assert zygote.ended.is_set()
