"""Runs on disk: counted up, found again, and which scenarios have not passed when last tried."""

import copy

import pytest

from streamproof.errors import ConfigurationError
from streamproof.report import store


def kept(folder, report):
    run = store.new_run(folder)
    store.write(report, run)
    return run


def only(report, *names, verdict="pass"):
    """What replaying some scenarios leaves: a part of the plan."""
    part = copy.deepcopy(report)
    part["scenarios"] = [entry | {"verdict": verdict} for entry in part["scenarios"] if entry["id"] in names]
    return part | {"plan": "part", "verdict": verdict}


def test_a_quick_plan_that_passes_does_not_forget_what_the_whole_one_has_found(tmp_path, monkeypatch, red):
    monkeypatch.setattr(store, "render", lambda report: "")
    kept(tmp_path, red)
    kept(tmp_path, only(red, "publish/exposure@3:after") | {"plan": "quick"})

    assert "publish/exposure@4:after" in store.last_failed(tmp_path)
    assert "publish/exposure@3:after" not in store.last_failed(tmp_path)


def test_runs_are_counted_up_and_all_three_files_are_written(tmp_path, empty):
    first, second = kept(tmp_path, empty), kept(tmp_path, empty)

    assert first == tmp_path / ".streamproof/runs/0001"
    assert second.name == "0002"
    assert sorted(file.name for file in first.iterdir()) == ["junit.xml", "report.html", "report.json"]
    assert store.load(first) == store.load(first / "report.json") == empty


def test_numbers_go_on_past_gaps_and_past_four_digits(tmp_path):
    store.runs_folder(tmp_path).mkdir(parents=True)
    (store.runs_folder(tmp_path) / "9999").mkdir()
    (store.runs_folder(tmp_path) / "notes").mkdir()

    first, second = store.new_run(tmp_path), store.new_run(tmp_path)
    for run in (store.runs_folder(tmp_path) / "9999", first, second):
        (run / "report.json").write_text("{}")

    assert [run.name for run in store.list_runs(tmp_path)] == ["9999", "10000", "10001"]


def test_a_run_is_found_by_number_and_as_the_latest(tmp_path, empty):
    first, second = kept(tmp_path, empty), kept(tmp_path, empty)
    store.new_run(tmp_path)  # begun, without a report yet

    assert store.list_runs(tmp_path) == [first, second]
    assert store.find_run(tmp_path) == second
    assert store.find_run(tmp_path, "1") == store.find_run(tmp_path, "0001") == first
    with pytest.raises(ConfigurationError, match="There are 0001 to 0002"):
        store.find_run(tmp_path, "3")


def test_where_nothing_was_proved_there_are_no_runs(tmp_path):
    assert store.list_runs(tmp_path) == []
    assert store.last_failed(tmp_path) == []
    with pytest.raises(ConfigurationError, match="Nothing has been proved"):
        store.find_run(tmp_path)


def test_the_data_are_written_even_if_the_page_cannot_be(tmp_path, red, monkeypatch):
    def broken(report):
        raise RuntimeError

    monkeypatch.setattr(store, "render", broken)
    with pytest.raises(RuntimeError):
        store.write(red, tmp_path)

    assert store.load(tmp_path) == red


def test_last_failed_names_what_has_not_passed_failing_first(tmp_path, monkeypatch, red):
    monkeypatch.setattr(store, "render", lambda report: "")
    red["scenarios"][0]["verdict"] = "unknown"
    kept(tmp_path, red)

    assert store.last_failed(tmp_path) == [
        *(f"publish/exposure@{batch}:after" for batch in range(3, 10)),
        "start/metadata@0:before",
    ]


def test_replaying_one_failure_does_not_forget_the_others(tmp_path, monkeypatch, red):
    monkeypatch.setattr(store, "render", lambda report: "")
    kept(tmp_path, red)
    kept(tmp_path, only(red, "publish/exposure@3:after"))
    kept(tmp_path, only(red, "publish/exposure@9:after", verdict="fail"))

    assert set(store.last_failed(tmp_path)) == {f"publish/exposure@{batch}:after" for batch in range(4, 10)}


def test_a_whole_pass_clears_the_list_and_another_seed_does_not_mix_in(tmp_path, monkeypatch, red, green):
    monkeypatch.setattr(store, "render", lambda report: "")
    kept(tmp_path, red)
    kept(tmp_path, only(green, "publish/exposure@3:after") | {"seed": 8})

    assert store.last_failed(tmp_path) == []

    kept(tmp_path, green)

    assert store.last_failed(tmp_path) == []
