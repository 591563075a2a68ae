"""`prove` parses, passes on and prints; the proof itself is a stand-in here."""

import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

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

    def proved(*arguments: str, verdict: str = "pass", problem: BaseException | None = None):
        def run(target, **options):
            asked.clear()
            asked.update(options, target=target)
            if problem:
                raise problem
            for event in (Recording(1, 1), Recorded(612, 268, 9, 6.0), Proving(1, 1, "publish/exposure@3:after"), Finished()):
                options["listener"](event)
            return StandIn(Verdict(verdict), {"verdict": verdict}, tmp_path / "run")

        module = ModuleType("streamproof.proof")
        module.prove = module.plan = run
        monkeypatch.setitem(sys.modules, "streamproof.proof", module)
        monkeypatch.setattr("streamproof.config.load", lambda target, *, profile: None)
        monkeypatch.setattr("streamproof.runtime.environment.find_java", lambda: None)
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
            "--brokers",
            "3",
            "--report",
            "reports/x",
        ),
        *("--allow-host", "a.b", "--allow-host", "c.d", "--service", "kafka=h:1", "--service", "postgres=postgresql://h/d?a=b"),
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
        "brokers": 3,
        "allow_hosts": ("a.b", "c.d"),
        "services": {"kafka": "h:1", "postgres": "postgresql://h/d?a=b"},
        "report": Path("reports/x"),
        "expect": ("late=9", "unbounded-state"),
    }


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


def test_ctrl_c_says_that_what_is_finished_is_kept(proved):
    result, _ = proved(problem=KeyboardInterrupt())

    assert result.code == 130
    assert "What was finished is kept" in result.err


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
