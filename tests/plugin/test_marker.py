"""`pytest --streamproof`: a test for each crash of a job, and a failure that reads like an incident report."""

import tempfile
from pathlib import Path

import pytest

from plugin.conftest import FAILING, PASSING, TEST, Folder

pytest_plugins = ["pytester"]


def test_each_scenario_is_a_test_and_the_job_is_proved_once(folder: Folder):
    result = folder.run("--streamproof", "-v")

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "test_job.py::test_survives_every_crash[[]fault-free[]] PASSED*",
            f"test_job.py::test_survives_every_crash[[]{PASSING}[]] PASSED*",
            f"test_job.py::test_survives_every_crash[[]{FAILING}[]] FAILED*",
        ]
    )
    assert folder.calls() == [["plan", "my_job", {"quick": True}], ["prove", "my_job", {"quick": True, "scenarios": []}]]


def test_a_failure_reads_like_an_incident_report(folder: Folder):
    text = folder.run("--streamproof").stdout.str()

    assert "exactly-once: trade t-014014 is counted twice" in text
    assert "  expected  client c17  09:01:00-09:01:30   exposure 48,210.50   trades 31" in text
    assert "  found     client c17  09:01:00-09:01:30   exposure 49,905.50   trades 32" in text
    assert "  code      exactly-once/counted-again" in text
    assert f'replay: pytest "test_job.py::test_survives_every_crash[{FAILING}]" --streamproof-seed 7' in text
    assert f"FAILED test_job.py::test_survives_every_crash[{FAILING}] - Failed: exactly-once: trade t-014014" in text
    assert "Traceback" not in text
    assert "streamproof_pytest.py" not in text


def test_the_replay_line_runs_that_one_scenario_with_that_seed(folder: Folder):
    result = folder.run(f"test_job.py::test_survives_every_crash[{FAILING}]", "--streamproof-seed", "7")

    result.assert_outcomes(failed=1)
    options = {"quick": True, "seed": 7}
    assert folder.calls() == [["plan", "my_job", options], ["prove", "my_job", {**options, "scenarios": [FAILING]}]]


def test_what_k_leaves_out_is_not_proved(folder: Folder):
    folder.run("--streamproof", "-k", "commit").assert_outcomes(passed=1, deselected=2)

    assert folder.calls()[-1][2]["scenarios"] == [PASSING]


def test_without_the_option_the_test_is_skipped_and_says_how_to_run_it(folder: Folder):
    result = folder.run("-rs")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*a proof takes a minute or more; run it with: pytest --streamproof*"])
    assert folder.calls() == []


def test_collecting_alone_lists_the_crashes_and_proves_nothing(folder: Folder):
    folder.run("--streamproof", "--collect-only", "-q").stdout.fnmatch_lines([f"*test_survives_every_crash[[]{FAILING}[]]"])

    assert [call[0] for call in folder.calls()] == ["plan"]


def test_options_of_the_marker_reach_the_proof(folder: Folder):
    marked = TEST.replace('"my_job"', '"my_job", plan="full", only="commit/*", seed=3, profile="ci", events=100')
    folder.pytester.makepyfile(test_job=marked)
    folder.run("--streamproof")

    options = {"full": True, "only": "commit/*", "seed": 3, "profile": "ci", "events": 100}
    assert [call[2] for call in folder.calls()] == [options, {**options, "scenarios": []}]


def test_two_tests_of_one_job_share_its_proof(folder: Folder):
    folder.pytester.makepyfile(test_job=TEST + TEST.replace("test_survives", "test_also_survives"))

    folder.run("--streamproof").assert_outcomes(passed=4, failed=2)
    assert [call[0] for call in folder.calls()] == ["plan", "prove"]


def test_a_job_that_cannot_be_recorded_is_an_error_of_collection_that_says_why(folder: Folder):
    (folder.path / "problem").touch()
    result = folder.run("--streamproof")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*streamproof.toml line 9: there is no key lagg.*", '*Did you mean "lag"?*'])
    assert "streamproof_pytest.py" not in result.stdout.str()


@pytest.mark.parametrize("marker", ['"my_job", plan="all"', "", '"my_job", "quick"'])
def test_a_marker_that_is_wrong_says_what_it_takes(folder: Folder, marker: str):
    folder.pytester.makepyfile(test_job=TEST.replace('"my_job"', marker))

    text = folder.run("--streamproof")
    assert "takes a job and a plan, quick, standard, full" in text.stdout.str() + text.stderr.str()


def test_what_was_never_exercised_fails_the_run_without_a_fault(folder: Folder):
    folder.report["verdict"] = "unknown"
    folder.report["scenarios"] = [entry for entry in folder.report["scenarios"] if entry["id"] != FAILING]
    folder.report["not_exercised"] = [{"code": "late-not-exercised", "name": "late", "says": "No record came late."}]
    folder.listed(PASSING)
    result = folder.run("--streamproof")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["undecided: never exercised: late*", "  exercised No record came late."])


def test_a_scenario_that_no_test_stands_for_is_not_lost(folder: Folder):
    folder.listed(PASSING)
    result = folder.run("--streamproof")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*trade t-014014 is counted twice*", "replay: pytest *fault-free*"])


def test_a_scenario_that_the_proof_did_not_try_fails(folder: Folder):
    folder.listed(PASSING, FAILING, "publish/exposure@9:after")
    result = folder.run("--streamproof")

    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["publish/exposure@9:after was not tried: *"])


def test_one_test_for_the_whole_plan_where_the_marker_asks_for_it(folder: Folder):
    whole = TEST.replace('"my_job"', '"my_job", split=False').replace('streamproof_scenario["id"]', "True")
    folder.pytester.makepyfile(test_job=whole)
    result = folder.run("--streamproof")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*trade t-014014 is counted twice*"])
    assert [call[0] for call in folder.calls()] == ["prove"]


@pytest.mark.parametrize("how", [(), ("--dist", "loadgroup")])
def test_workers_of_xdist_share_one_recording_and_one_proof(folder: Folder, how: tuple[str, ...]):
    result = folder.run("--streamproof", "-n", "2", *how)

    result.assert_outcomes(passed=2, failed=1)
    assert [call[0] for call in folder.calls()] == ["plan", "prove"]
    assert f'replay: pytest "test_job.py::test_survives_every_crash[{FAILING}]" --streamproof-seed 7' in result.stdout.str()


def test_what_the_session_shares_goes_with_it(folder: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder.run("--streamproof")

    assert not list(tmp_path.glob("streamproof-*"))


def test_samples_and_their_schemas_lie_beside_the_test(tmp_path):
    import streamproof as sp
    from streamproof.prove.scenario.declared import SampleFile
    from streamproof_pytest import _sample_beside

    for name in ("clicks.jsonl", "clicks.ddl"):
        (tmp_path / name).write_text("x")
    there, test = tmp_path / "clicks.jsonl", tmp_path / "test_job.py"

    assert _sample_beside("clicks.jsonl", test) == SampleFile(str(there))
    assert _sample_beside("kafka:clicks.jsonl", test) == SampleFile(f"kafka:{there}")
    assert _sample_beside("other.jsonl", test) == SampleFile("other.jsonl")
    assert _sample_beside(sp.sample("clicks.jsonl", schema="at timestamp"), test) == SampleFile(str(there), "at timestamp")
    assert _sample_beside(sp.sample("clicks.jsonl", schema="clicks.ddl"), test) == SampleFile(
        str(there), str(tmp_path / "clicks.ddl")
    )
