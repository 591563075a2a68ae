"""What is read of a failing scenario, and after which batches; values that may not be shown are left out. No Spark."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.prove.states import looking
from streamproof.prove.states.beside import Side
from streamproof.prove.states.looking import state_of
from streamproof.prove.states.reading import Looked

WINDOW = (0, "stateStoreSave")
PLAN: Any = SimpleNamespace(id="publish/out@1:after", recording="default")


class Scenario:
    """A scenario whose checkpoint holds a word, one at its crash and another after the recovery; a run without a fault holds a third."""

    def __init__(self, folder: Path, *, recovered: bool = True, masked: bool = False) -> None:
        self.disk, self.recovered = folder / "disk", recovered
        layout = SimpleNamespace(checkpoints={"out": "checkpoint/out"})
        engine = SimpleNamespace(spark=None)
        self.subject = SimpleNamespace(folder=folder / "proof", layout=layout, engine=engine, masked=masked)
        sound = folder / "recording"
        self.put(sound, "sound")
        self.recordings: Any = {"default": SimpleNamespace(binding=SimpleNamespace(folder=sound))}

    @staticmethod
    def put(disk: Path, word: str) -> None:
        (disk / "checkpoint" / "out").mkdir(parents=True, exist_ok=True)
        (disk / "checkpoint" / "out" / "word").write_text(word)

    def look_into(self, plan: Any, recordings: Any, at_crash: Any, after: Any) -> bool:
        assert (plan, recordings) == (PLAN, self.recordings)
        self.put(self.disk, "first try")
        at_crash(self.disk)
        self.put(self.disk, "crash")
        at_crash(self.disk)
        self.put(self.disk, "after")
        if self.recovered:
            after(self.disk)
        return self.recovered


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None]]:
    """What was read: the word of the checkpoint, and the batch that was wanted. At the crash batch 2 is committed, and batch 3 planned."""
    found: list[tuple[str, int | None]] = []

    def look(checkpoint: Path) -> Looked:
        word = (checkpoint / "word").read_text() if checkpoint.is_dir() else ""
        return Looked(word or None, 2 if word == "crash" else 9, word == "crash")  # type: ignore[arg-type]

    def sides_of(_: Any, looked: Looked, wanted: int | None = None) -> dict[Any, Side]:
        word: Any = looked.found
        if word is None:
            return {}
        found.append((word, wanted))
        batch = wanted if wanted is not None else looked.committed
        return {WINDOW: Side(batch, ("client", "total"), ("client",), [{"client": "secret", "total": word}], 1)}

    monkeypatch.setattr(looking, "look", look)
    monkeypatch.setattr(looking, "sides_of", sides_of)
    return found


def test_the_crash_the_batch_after_it_and_the_same_batch_without_a_fault_are_read(tmp_path: Path, asked: Any) -> None:
    scenario: Any = Scenario(tmp_path)

    found = state_of(scenario, PLAN, scenario.recordings)

    assert asked == [("crash", None), ("after", 3), ("sound", 3)]
    assert (found["scenario"], found["recovered"], found["masked"]) == (PLAN.id, True, False)
    [one] = found["operators"]
    assert (one["query"], one["operator"], one["word"], one["row"]) == ("out", 0, "aggregate", "open group")
    assert (one["crash"]["batch"], one["after"]["batch"], one["unsound"]) == (2, 3, 1)
    assert one["rows"] == [{"what": "changed", "key": ["secret"], "crash": ["crash"], "after": ["after"], "unsound": True}]
    assert list((tmp_path / "proof").iterdir()) == [], "the copies go"


def test_a_batch_that_was_not_planned_at_the_crash_is_not_held_against_the_run_without_a_fault(
    tmp_path: Path, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario: Any = Scenario(tmp_path)
    whole = looking.look
    monkeypatch.setattr(looking, "look", lambda checkpoint: Looked(whole(checkpoint).found, 2))

    [one] = state_of(scenario, PLAN, scenario.recordings)["operators"]

    assert [word for word, _ in asked] == ["crash", "after"]
    assert one["unsound"] is None


def test_of_a_job_that_does_not_come_back_there_is_the_crash_alone(tmp_path: Path, asked: Any) -> None:
    scenario: Any = Scenario(tmp_path, recovered=False)

    found = state_of(scenario, PLAN, scenario.recordings)

    assert not found["recovered"]
    assert [word for word, _ in asked][:1] == ["crash"]
    assert found["operators"][0]["after"]["batch"] is None


def test_values_that_are_masked_are_nowhere_not_even_in_what_spark_says(
    tmp_path: Path, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario: Any = Scenario(tmp_path, masked=True)
    found = state_of(scenario, PLAN, scenario.recordings)

    assert found["masked"]
    assert found["operators"][0]["counts"]["changed"] == 1
    assert "secret" not in json.dumps(found)

    unread = Side(2, unread="Spark cannot read it: no such value: secret")
    monkeypatch.setattr(looking, "sides_of", lambda *_: {WINDOW: unread})
    assert "secret" not in json.dumps(state_of(scenario, PLAN, scenario.recordings))
