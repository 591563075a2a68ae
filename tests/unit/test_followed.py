"""What a report tells of single events and rows: those that findings name, in the scenario that names them, and a bounded sample."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamproof import followed as module
from streamproof.followed import followed, story_of
from streamproof.prove.artifacts.history import History
from streamproof.prove.lineage.kept import FOLDER, Keeper, KeptEvent
from streamproof.prove.lineage.stories import batches_alone, rows_alone
from streamproof.prove.lineage.tracing import FAULT_FREE
from streamproof.report.shape import _compare
from streamproof.report.shape_of_causes import Followed
from unit.prove.lineage.recorded import CRASHED, keep, reported
from unit.prove.small import FILE, ONCE, RECORDS, faultless, rows_of, with_rows


def finding(event: str | None) -> dict[str, Any]:
    return {"what": "is counted twice", "event": event, "code": "published-again"}


def report(*named: str | None, points: tuple[tuple[str, str], ...] = ()) -> Any:
    """A report of a sound run and of a scenario whose findings name these events."""
    failing = [{"name": "exactly-once", "verdict": "fail", "findings": [finding(event) for event in named]}]
    return {
        "verdict": "fail",
        "scenarios": [
            {**reported(FAULT_FREE), "verdict": "pass", "phase": None, "batch": None, "checks": []},
            {**reported(CRASHED, 1), "verdict": "fail", "phase": "publish", "batch": 1, "checks": failing},
        ],
        "event_time": {"points": [{"event": event, "fate": fate} for event, fate in points], "batches": []},
    }


@pytest.fixture
def sound() -> History:
    return faultless(ONCE, RECORDS)


@pytest.fixture
def run(tmp_path: Path, sound: History) -> Path:
    rows = rows_of(sound, "totals")
    again = [replace(row, batch=3, file=FILE) for row in rows if row.values["client"] == "a"]
    keep(tmp_path, {FAULT_FREE: sound, CRASHED: with_rows(sound, "totals", [*rows, *again])})
    return tmp_path


def test_it_has_the_shape_of_the_report_and_is_json(run):
    found = followed(run, report("e-1"))
    wrong: list[str] = []
    _compare(found, Followed, "followed", wrong)

    assert wrong == []
    assert json.loads(json.dumps(found)) == found
    assert "problem" not in found


def test_an_event_of_a_finding_is_told_in_its_scenario_and_ends_with_what_is_wrong(run):
    first, *others = followed(run, report("e-1"))["events"]

    assert (first["trace"], first["scenario"], first["named"]) == ("e-1", CRASHED, True)
    assert first["ends"].startswith("WRONG: its row is in totals 2 times")
    assert ["scenario", CRASHED] in first["lines"]
    assert {other["scenario"] for other in others} == {FAULT_FREE}
    assert not any(other["named"] for other in others)


def test_an_event_that_several_scenarios_name_is_told_once_in_the_worst_of_them(run, sound):
    keep(run, {"work/a@2:after": sound})
    two = report("e-1", "e-3")
    two["scenarios"].append({**two["scenarios"][1], **reported("work/a@2:after"), "batch": 2})

    named = [(event["trace"], event["scenario"]) for event in followed(run, two)["events"] if event["named"]]

    assert named == [("e-1", CRASHED), ("e-3", CRASHED)]


def test_a_finding_of_a_row_of_several_events_names_each_of_them(run):
    named = [event["trace"] for event in followed(run, report("e-1|e-3#1", None, "nobody"))["events"] if event["named"]]

    assert named == ["e-1", "e-3"]


def test_the_row_that_is_there_twice_comes_first_and_says_so(run):
    row, *_ = followed(run, report("e-6", "e-1"))["rows"]

    assert (row["output"], row["scenario"], row["wrong"]) == ("totals", CRASHED, True)
    assert ["WRONG", "this row is in totals 2 times; the model has 1"] in row["lines"]
    assert row["made_of"] == ["e-1", "e-2", "e-6"]


def test_without_a_failure_there_is_the_sample_alone_with_rows_of_each_output(run):
    sound_report = report()
    sound_report["scenarios"][1]["verdict"] = "pass"
    found = followed(run, sound_report)

    assert len(found["events"]) == found["of_events"] == 11
    assert {row["output"] for row in found["rows"]} >= {"totals", "rejected"}
    assert not any(row["wrong"] for row in found["rows"])


def test_however_many_events_there_are_few_are_told_some_of_each_place(run, monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 4)
    monkeypatch.setattr(module, "NAMED", module.SCENARIOS)
    monkeypatch.setattr(module, "_OF_EACH", 1)
    found = followed(run, report(*(f"e-{number}" for number in range(1, 8)), points=(("e-9", "late"), ("e-4", "rejected"))))

    told = [event["trace"] for event in found["events"]]
    assert told[:1] == ["e-1"]
    assert len(told) <= 1 + 4
    assert {"e-9", "e-4"} & set(told[1:])
    assert len(found["rows"]) <= module.ROWS
    assert found["of_events"] == 11


def test_the_way_of_one_event_of_a_smallest_scenario_is_told_alone(run):
    story = story_of(run, CRASHED, "e-1|e-2#1")

    assert story[0][0] == "arrived"
    assert ["WRONG", "its row is in totals 2 times, by batch 2 and 3; the model has 1"] in story
    assert "elsewhere" not in {label for label, _ in story}
    assert story_of(run, CRASHED, None) == story_of(run, CRASHED, "nobody") == story_of(run / "nowhere", CRASHED, "e-1") == []


def test_of_a_large_run_the_other_scenarios_are_not_read(run, monkeypatch):
    labels = {label for event in followed(run, report("e-1"))["events"] for label, _ in event["lines"]}
    assert "elsewhere" in labels

    monkeypatch.setattr(module, "MOST_READ", 21)
    found = followed(run, report("e-1"))

    assert "elsewhere" not in {label for event in found["events"] for label, _ in event["lines"]}
    assert found["events"][0]["ends"].startswith("WRONG: its row is in totals 2 times")


def test_a_run_without_lineage_says_so_and_spoils_nothing(tmp_path):
    found = followed(tmp_path, report("e-1"))

    assert found["events"] == found["rows"] == []
    assert "has no lineage" in found["problem"]


def test_what_is_damaged_is_said_and_spoils_nothing(run):
    for part in (run / FOLDER / "parts").iterdir():
        part.write_bytes(b"torn")

    assert "cannot be read" in followed(run, report("e-1"))["problem"]


def plain(folder: Path, *, masked: bool) -> Path:
    """A run of a job that no model knows: two records, of which one is in a row by its id."""
    ids = () if masked else ("secret-1",)
    events = [KeptEvent("clicks-000001", "clicks-000001", ids, "clicks", "part-0.json", 1, None)]
    rows = rows_alone("out", {0: [{"id": "secret-1", "total": 3}]}, masked=masked)

    class Query:
        query, model, outputs, starts = "q", object(), [rows], {}

        @staticmethod
        def story():
            return batches_alone([(0, ["part-0.json"], 0)])

    Keeper(folder / FOLDER).keep(FAULT_FREE, lambda: events, lambda: [Query])
    return folder


@pytest.mark.parametrize("masked", [True, False])
def test_values_of_a_sample_are_told_only_where_the_proof_may_show_them(tmp_path, masked):
    found = followed(plain(tmp_path, masked=masked), report())

    assert [event["trace"] for event in found["events"]] == ["clicks-000001"]
    assert found["masked"] is masked
    assert ("secret-1" in json.dumps(found)) is not masked
    assert bool(found["rows"]) is not masked
