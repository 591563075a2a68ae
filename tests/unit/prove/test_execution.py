"""A scenario whose process the JVM could not call is run again on a disk of its own; where that does not help, nothing is known of it."""

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
