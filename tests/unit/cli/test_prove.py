"""`prove` parses, passes on and prints; the proof itself is a stand-in here."""

import io
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from streamproof.core.ends import ProofInterrupted
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.prove.events import Finished, Proving, Recorded, Recording


@dataclass
class StandIn:
    verdict: Verdict
    report: Any
    folder: Path
    ids: tuple[str, ...] = ("publish/exposure@3:after", "work/state.1@3:after")
    steps: int = 612
    distinct: int = 268
    live: int = 9
    seconds_estimate: float = 221.0
    others: int = 8


@pytest.fixture
def proved(streamproof, monkeypatch, tmp_path):
    """Runs `prove` on a stand-in with the verdict; gives what was printed and what the proof was asked for."""
    asked = {}

    def proved(*arguments: str, verdict: str = "pass", problem: BaseException | None = None, stops=None):
        def run(target, *, end, **options):
            asked.clear()
            asked.update(options, target=target)
            if stops is not None:
                stops(end)
            if problem:
                raise problem
            for event in (Recording(1, 1), Recorded(612, 268, 9, 6.0), Proving(1, 1, "publish/exposure@3:after"), Finished()):
                options["listener"](event)
            return StandIn(Verdict(verdict), {"verdict": verdict}, tmp_path / "run")

        module = ModuleType("streamproof.proof")
        module.prove = module.plan = run
        monkeypatch.setitem(sys.modules, "streamproof.proof", module)
        monkeypatch.setattr("streamproof.config.load", lambda target, *, profile: None)
        monkeypatch.setattr("streamproof.runtime.spark.environment.find_java", lambda: None)
        monkeypatch.setattr(
            "streamproof.report.terminal.print_summary",
            lambda report, out, *, where=None: out.print(f"{report['verdict'].upper()} {where}"),
        )
        return streamproof("prove", "my_job", *arguments), asked

    return proved


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1), ("unknown", 3)])
def test_the_exit_code_is_the_verdict(proved, verdict, code):
    result, _ = proved(verdict=verdict)

    assert result.code == code
    assert verdict.upper() in result.out
    assert "612 durable steps, 268 distinct disks, 9 live crashes" in result.out


def test_the_page_is_named_if_it_is_there(proved, tmp_path):
    assert proved()[0].out.endswith("PASS None\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/report.html").touch()
    assert proved()[0].out.endswith("PASS run/report.html\n")


def test_every_option_reaches_the_proof(proved):
    _, asked = proved(
        *("--only", "publish/*", "--seed", "7", "--full", "--max-scenarios", "5", "--time-budget", "10 minutes"),
        *(
            "-x",
            "--last-failed",
            "--profile",
            "local",
            "--events",
            "500",
            "--batches",
            "4",
            "--exactly",
            "smallest.json",
            "--brokers",
            "3",
            "--report",
            "reports/x",
        ),
        *("--allow-host", "a.b", "--allow-host", "c.d", "--service", "kafka=h:1", "--service", "postgres=postgresql://h/d?a=b"),
        *("--ignore", "out.at", "--ignore", "out.id"),
        *("--expect", "late=9", "--expect", "unbounded-state"),
    )

    asked.pop("listener")
    assert asked == {
        "target": "my_job",
        "job": None,
        "only": "publish/*",
        "seed": 7,
        "full": True,
        "quick": False,
        "max_scenarios": 5,
        "time_budget": timedelta(minutes=10),
        "stop_at_first": True,
        "last_failed": True,
        "profile": "local",
        "events": 500,
        "batches": 4,
        "exactly": Path("smallest.json"),
        "brokers": 3,
        "allow_hosts": ("a.b", "c.d"),
        "services": {"kafka": "h:1", "postgres": "postgresql://h/d?a=b"},
        "ignore": ("out.at", "out.id"),
        "report": Path("reports/x"),
        "expect": ("late=9", "unbounded-state"),
    }


def test_a_service_without_a_url_is_started_for_a_plain_job(proved):
    _, asked = proved("--input", "a=a.jsonl", "--service", "postgres", "--env", "DSN={postgres}", "--service", "redis")
    assert asked["services"] == ("postgres", "redis")

    result, _ = proved("--service", "postgres", "--service", "kafka=h:1")
    assert result.code == 2
    assert "one kind at a time" in result.err


def test_a_quick_plan_is_asked_for_and_listed(proved):
    assert proved("--quick")[1]["quick"] is True
    assert proved("--quick", "--list")[1]["quick"] is True
    assert proved()[1]["quick"] is False


def test_a_quick_plan_and_the_full_one_exclude_each_other(streamproof, my_job):
    result = streamproof("prove", str(my_job), "--quick", "--full")

    assert result.code == 2
    assert "--quick" in result.err
    assert "--full" in result.err
    assert "exclude each other" in result.err
    assert not (my_job / ".streamproof").exists(), "nothing was begun"


def test_the_list_names_the_scenarios_and_an_estimate(proved):
    result, asked = proved("--list", "--only", "work/*")

    assert result.code == 0
    assert "publish/exposure@3:after\nwork/state.1@3:after\n" in result.out
    assert "2 scenarios from 612 durable steps: 268 distinct disks, 9 live crashes, 8 other faults" in result.out
    assert "it will take about 3 min 41 s" in result.out
    assert "time_budget" not in asked


def test_a_proof_that_was_interrupted_leaves_the_report_of_what_is_finished(proved, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/report.html").touch()
    result, _ = proved(problem=ProofInterrupted(StandIn(Verdict.UNKNOWN, {"verdict": "unknown"}, tmp_path / "run")))

    assert result.code == 130
    assert "UNKNOWN run/report.html" in result.out
    assert "What was finished is kept" in result.err


def test_one_that_had_finished_nothing_claims_no_report(proved):
    result, _ = proved(problem=KeyboardInterrupt())

    assert result.code == 130
    assert "Stopped before anything was finished: no report was written." in result.err


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_says_at_once_that_it_is_stopping(proved, monkeypatch, sent, code):
    said: list[str] = []
    shown = io.StringIO()  # read while it is written to: what capsys reads it also cuts off, and a line on its way would be lost

    class Left(BaseException):
        """In the place of a process that ends."""

    def leave(code: int) -> None:
        raise Left(code)

    def stops(end: threading.Event) -> None:
        os.kill(os.getpid(), sent)
        assert end.wait(10)
        until = time.monotonic() + 30
        while "is written." not in shown.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
        said.append(shown.getvalue())
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(sys, "stderr", shown)
    with pytest.raises(Left) as left:
        proved(stops=stops)

    assert left.value.args == (code,)
    assert said[0].startswith("stopping: what runs is ended, and no scenario has begun, so no report is written.")


def test_an_id_that_no_plan_can_hold_is_refused_before_spark_starts(proved):
    result, asked = proved("--only", "nonsense")

    assert (result.code, asked) == (2, {})
    assert "nonsense can name no scenario" in result.err
    assert "publish/exposure@3:after" in result.err
    assert "streamproof prove my_job --list" in result.err


def test_commands_in_an_error_name_the_target_as_it_was_typed(proved):
    result, _ = proved(problem=ScenarioError("No such scenario.", remedy="streamproof prove TARGET --list shows them."))

    assert (result.code, result.err.split()[-6:]) == (2, ["streamproof", "prove", "my_job", "--list", "shows", "them."])


def test_commands_in_an_error_name_the_profile_too(proved):
    problem = ScenarioError("No such scenario.", remedy="streamproof prove TARGET --list")
    result, _ = proved("--profile", "small", problem=problem)

    assert result.err.split()[-6:] == ["streamproof", "prove", "my_job", "--profile", "small", "--list"]


def test_a_plain_job_is_given_the_schema_of_its_sample(proved, tmp_path, monkeypatch):
    monkeypatch.setattr("streamproof.runtime.spark.environment.find_spark_of_plain_jobs", lambda: None)

    _, asked = proved("--input", "clicks=clicks.jsonl", "--schema", "clicks=user string, at timestamp")

    assert asked["job"].inputs == {"clicks": "clicks.jsonl"}
    assert asked["job"].schemas == {"clicks": "user string, at timestamp"}
