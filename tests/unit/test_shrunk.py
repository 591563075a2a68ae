"""What is shrunk of a stored proof, what is refused, and what is said of the smallest scenario; no Spark."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamproof import shrunk
from streamproof.cli.shrink import lines, not_again
from streamproof.errors import ConfigurationError, ScenarioError
from streamproof.prove.checkers import Finding
from streamproof.prove.options import Options
from streamproof.prove.scenario.exactly import Exactly, exactly_of
from streamproof.prove.scenario.generate import Event, Kind
from streamproof.prove.shrink.pasting import pasted
from streamproof.prove.shrink.shrinking import Shrunk, Size
from streamproof.prove.shrink.tries import Failed, SameFinding
from streamproof.report import store
from streamproof.report.shape import problems
from unit.report.conftest import build_empty, build_red

RUN = Path("my_job/.streamproof/runs/0007")
REQUEST = {
    "target": "my_job",
    "profile": None,
    "seed": 7,
    "events": None,
    "batches": None,
    "exactly": None,
    "full": False,
    "allow_hosts": [],
}
EVENT = Event("e-000052", Kind.OK, {"id": "t-52"}, 1_000_000, b'{"_trace": "e-000052", "id": "t-52"}', 0, 0, 0)


def entry(name: str, *findings: tuple[str, str | None], checker: str = "exactly-once", verdict: str = "fail") -> dict[str, Any]:
    found = [{"what": f"{event} is wrong", "event": event, "code": code} for code, event in findings]
    return {
        "id": name,
        "verdict": verdict,
        "batch": 2,
        "phase": "publish",
        "checks": [{"name": checker, "verdict": verdict, "findings": found}],
    }


def report(*scenarios: dict[str, Any], **others: Any) -> Any:
    return {
        "job": "takings",
        "seed": 7,
        "command": "streamproof prove my_job",
        "request": REQUEST,
        "scenarios": list(scenarios),
        **others,
    }


FAILING = entry(
    "publish/takings@2:after", ("published-again", "e-000052"), ("published-again", "e-000052+1"), ("counted-again", "e-000001")
)


def test_the_first_that_failed_is_taken_unless_one_is_named():
    found = report(entry("plan/offsets@0:after", verdict="pass"), FAILING)

    assert shrunk._failing(found, None, RUN) is FAILING
    assert shrunk._failing(found, "publish/takings@2:after", RUN) is FAILING


@pytest.mark.parametrize(
    ("scenario", "said"),
    [("plan/offsets@0:after", "did not fail in"), ("plan/offsets@9:after", "is no scenario of")],
)
def test_one_that_did_not_fail_is_refused_with_those_that_did(scenario, said):
    with pytest.raises(ConfigurationError, match=rf"{said}(.|\n)*publish/takings@2:after"):
        shrunk._failing(report(entry("plan/offsets@0:after", verdict="pass"), FAILING), scenario, RUN)


def test_a_proof_without_a_failure_is_refused():
    with pytest.raises(ConfigurationError, match="No scenario failed"):
        shrunk._failing(report(), None, RUN)


def test_the_finding_is_that_of_the_headline_with_the_events_of_its_code():
    assert shrunk._finding(FAILING) == SameFinding("exactly-once", "published-again", ("e-000052",))


@pytest.mark.parametrize(
    ("one", "error", "said"),
    [
        (entry("a", ("too-many-late", None), checker="expectations"), ScenarioError, "A share of all events"),
        (entry("a", ("other-rows", None), checker="agreement"), ScenarioError, "two scenarios disagree"),
        (entry("a"), ConfigurationError, "keeps no finding"),
    ],
)
def test_a_finding_that_no_smaller_scenario_can_have_is_refused(one, error, said):
    with pytest.raises(error, match=said):
        shrunk._finding(one)


def test_a_report_of_an_older_version_says_what_to_do():
    older = report(FAILING)
    del older["request"]

    with pytest.raises(ConfigurationError, match="Prove it again: streamproof prove my_job"):
        shrunk._request(older, RUN)


def test_events_that_were_given_in_python_are_refused():
    with pytest.raises(ConfigurationError, match="made in Python"):
        shrunk._request(report(FAILING, request={**REQUEST, "exactly": ""}), RUN)


def test_a_target_that_is_not_here_is_the_folder_of_the_run(tmp_path):
    run = tmp_path / "job" / ".streamproof" / "runs" / "0007"
    run.mkdir(parents=True)

    assert shrunk._target({**REQUEST, "target": str(tmp_path)}, run) == str(tmp_path)
    assert shrunk._target({**REQUEST, "target": "nowhere/my_job"}, run) == str(tmp_path / "job")


def kept(tmp_path: Path, *, to_the_end: bool = True, again: bool = True) -> shrunk.Smallest:
    failed = Failed("publish/takings@0:after", Finding("published-again", "e-000052", "is counted twice", called="payment t-52"))
    result = Shrunk(Size(5_000, 3, 1), Size(1, 1, 1), Exactly({"payments": (EVENT,)}), failed, 9, 42.0, to_the_end, again)
    finding = SameFinding("exactly-once", "published-again")
    return shrunk._kept(stored(), FAILED, Options("my_job"), result, finding, tmp_path)


FAILED = "publish/exposure@3:after"


def stored() -> Any:
    """A whole report, without the points of its picture."""
    nothing = build_empty()["event_time"]
    return {
        **build_red(),
        "event_time": nothing,
        "job": "takings",
        "request": REQUEST,
        "command": "streamproof prove my_job --seed 7",
    }


def test_the_command_has_the_events_and_the_file_holds_them(tmp_path):
    found = kept(tmp_path)

    assert found.replay == f"streamproof prove my_job --only publish/takings@0:after --exactly {found.events_file}"
    assert exactly_of(tmp_path / "smallest.json").of_source == {"payments": (EVENT,)}
    assert (tmp_path / "test_smallest.py").read_text() == found.test


def test_the_reports_of_the_run_are_written_again_and_lead_to_the_smallest_scenario(tmp_path):
    store.write(stored(), tmp_path)
    before = (tmp_path / "report.html").read_text()
    found = kept(tmp_path, to_the_end=False)
    after, data = (tmp_path / "report.html").read_text(), store.load(tmp_path)

    assert f"streamproof shrink my_job {FAILED}" in before
    assert f"streamproof shrink my_job {FAILED}" not in after
    assert found.replay in after
    assert "1 event, 1 batch, 1 fault, of 5,000 events, 3 batches, 1 fault" in after
    assert "The time was used up" in after
    assert problems(data) == []
    assert data["smallest"]["events"] == [{"batch": 0, "source": "payments", "trace": "e-000052", "record": EVENT.record.decode()}]
    assert data["smallest"]["use"]["test"] == found.test


def test_a_report_that_cannot_be_written_loses_nothing_of_the_result(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shrunk.store, "write", full)
    found = kept(tmp_path)

    assert (tmp_path / "smallest.json").is_file()
    assert any("could not be written again" in line and "No space left" in line for line in lines(found))


def test_the_test_is_python_with_the_events_in_it():
    text = pasted("takings", "my_job", "publish/takings@0:after", Exactly({"payments": (EVENT,)}), ", full=True")

    asked: list[Any] = []
    names: dict[str, Any] = {"sp": None}
    exec(compile(text.replace("import streamproof as sp", ""), "test_smallest.py", "exec"), names)
    names["sp"] = type("sp", (), {"prove": staticmethod(lambda *a, **k: asked.append((a, k)) or True)})
    names["test_takings_publish_takings_0_after"]()

    [(target, options)] = asked
    assert target == ("my_job",)
    assert (options["only"], options["full"]) == ("publish/takings@0:after", True)
    assert exactly_of(options["exactly"]).of_source == {"payments": (EVENT,)}
    assert exactly_of(json.loads(json.dumps(options["exactly"]))).total == 1


def test_what_is_said_fits_on_a_screen(tmp_path):
    said = list(lines(kept(tmp_path)))

    assert "  finding     exactly-once (published-again): payment t-52 is counted twice" in said
    assert "  it had      5,000 events, 3 batches, 1 fault" in said
    assert "  it has      1 event, 1 batch, 1 fault   after 9 tries, 42 s" in said
    assert '  batch 0     {"_trace": "e-000052", "id": "t-52"}' in said
    assert not [line for line in said if "not a" in line]
    assert len(said) < 40


def test_what_is_not_sure_is_said(tmp_path):
    said = "\n".join(lines(kept(tmp_path, to_the_end=False, again=False)))

    assert "the time was used up" in said
    assert "it did not fail when it was run once more" in said


def test_parts_that_could_not_be_run_are_said(tmp_path):
    found = kept(tmp_path)
    broken = replace(found, result=replace(found.result, not_run=("the job stopped: no rows\nmore", "another")))

    assert "  not run     2 tries of 9, taken for parts that do not fail: the job stopped: no rows" in lines(broken)


def test_a_scenario_that_does_not_fail_again_is_said():
    size = Size(5_000, 3, 1)
    found = shrunk.Smallest("publish/takings@2:after", Shrunk(size, size, tries=2), SameFinding("exactly-once", "published-again"))

    assert "\n".join(not_again(found)).startswith(
        "publish/takings@2:after did not fail again: exactly-once (published-again) found nothing in 2 runs."
    )
