"""`streamproof trace`: what it prints, which run it takes, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamproof.prove.lineage.tracing import FAULT_FREE
from streamproof.report import store
from streamproof.report.json_file import write_json
from unit.prove.lineage.recorded import keep
from unit.prove.small import ONCE, RECORDS, faultless
from unit.report.conftest import build_green

GREEN = build_green()


@pytest.fixture
def job() -> Path:
    """A job with two runs: the first keeps nothing, the second a small lineage."""
    job = Path("my_job")
    write_json(GREEN, store.new_run(job) / store.JSON)
    run = store.new_run(job)
    write_json(GREEN, run / store.JSON)
    keep(run, {FAULT_FREE: faultless(ONCE, RECORDS)})
    (job / "job.py").touch()
    return job


@pytest.fixture(autouse=True)
def _here(streamproof: Any) -> None:
    """The tests run in an empty folder."""


def test_p9_an_event_is_told_line_by_line(streamproof: Any, job: Path) -> None:
    result = streamproof("trace", "my_job", "e-1+1")

    assert result.code == 0, result.err
    assert result.out.splitlines() == [
        "trade e-1+1 · run 0002",
        "  scenario    a run without a fault",
        "  arrived     row 3 of part-0-0.json, read by batch 0 · event time 00:01:01",
        "  passed      require, filter",
        "  left by     duplicate at deduplicate (id) in batch 0: e-1 goes on in its place",
        "  published   again, batch=000000: total 1.50 · reason a copy",
    ]


def test_p9_a_late_event_says_by_how_much(streamproof: Any, job: Path) -> None:
    assert "late at deduplicate (id) in batch 2: 46.0 s too late, since batch 2 takes no event up to 00:00:53" in " ".join(
        streamproof("trace", "my_job", "e-9").out.split()
    )


def test_p9_a_row_is_told_with_its_events(streamproof: Any, job: Path) -> None:
    result = streamproof("trace", "my_job", "--row", "client = 'a'", "--output", "totals")

    assert result.code == 0, result.err
    assert "  made of     3 events: e-1, e-2 (read by batch 0); e-6 (read by batch 1)\n" in result.out


def test_json_is_one_object(streamproof: Any, job: Path) -> None:
    event = json.loads(streamproof("trace", "my_job", "e-1", "--json").out)
    row = json.loads(streamproof("trace", "my_job", "--row", "client = 'a'", "--json").out)

    assert event["scenario"]["id"] == FAULT_FREE
    assert [one["trace"] for one in event["events"]] == ["e-1", "e-1+1"]
    assert row["rows"][0]["values"]["window_start"] == "1970-01-01 00:01:00"


@pytest.mark.parametrize(
    "run", ["my_job", "my_job/job.py:totals", "my_job/.streamproof/runs/0002", "my_job/.streamproof/runs/0002/report.json"]
)
def test_a_run_is_named_by_its_job_its_folder_or_its_report(streamproof: Any, job: Path, run: str) -> None:
    assert streamproof("trace", run, "e-3").out.startswith("trade e-3 · run 0002\n")


@pytest.mark.parametrize("run", ["latest", "2"])
def test_a_run_is_named_by_its_number_beside_the_folder_of_its_job(streamproof: Any, job: Path, run: str) -> None:
    assert streamproof("trace", run, "e-3", "--job", "my_job").out.startswith("trade e-3 · run 0002\n")


def test_several_events_are_shown_up_to_the_limit(streamproof: Any, job: Path) -> None:
    said = streamproof("trace", "my_job", "e-1", "--limit", "1").out

    assert said.count("· run 0002") == 1
    assert "2 events are called so, of which the first 1 is shown: --limit 2 shows all" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("my_job", "e-77"), 'There is no event "e-77"'),
        (("my_job", "--row", "client = 'zz'"), "No published row fits"),
        (("my_job/.streamproof/runs/0001", "e-1"), "has no lineage, so no event can be followed in it."),
        (("my_job", "e-1", "--scenario", "publish/x@9:after"), 'There is no scenario "publish/x@9:after"'),
        (("my_job", "e-1", "--scenario", "publish/exposure@3:after"), "Nothing is kept of the scenario publish/exposure@3:after"),
        (("nowhere", "e-1"), 'has no run "nowhere"'),
        (("my_job",), "it takes an EVENT, --row or --where, one of them"),
        (("my_job", "e-1", "--row", "true"), "it takes an EVENT, --row or --where, one of them"),
        (("my_job", "--row", "true", "--where", "true"), "it takes an EVENT, --row or --where, one of them"),
        (("my_job", "e-1", "--profile", "test"), "--profile goes with --where"),
        (("my_job", "e-1", "--output", "totals"), "--output goes with --row"),
    ],
)
def test_what_is_not_there_is_said_with_exit_code_2(streamproof: Any, job: Path, words: tuple[str, ...], said: str) -> None:
    result = streamproof("trace", *words)

    assert result.code == 2
    assert said in result.err.replace("\n       ", " ")


def test_a_run_that_a_person_has_deleted_names_those_that_are_left(streamproof: Any, job: Path) -> None:
    result = streamproof("trace", "7", "e-1", "--job", "my_job")

    assert result.code == 2
    assert "There are 0001 to 0002." in result.err
