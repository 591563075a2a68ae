"""What the report says of a proof: which scenario proves a crash point."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.prove.assembling import Request, crash_points, first_to_read
from streamproof.prove.options import Options, Selection
from streamproof.prove.plan.planning import FAULT_FREE, live, standard
from streamproof.prove.record.steps import timeline
from streamproof.report import explain
from unit.prove.record.recorder import LAYOUT, Recorder


@pytest.fixture
def recording(tmp_path: Path) -> Any:
    recorder = Recorder(tmp_path / "recording")
    recorder.start()
    recorder.batch(0)
    return SimpleNamespace(name="default", steps=timeline(recorder.journal(), LAYOUT))


def proved_by(recording: Any, plans: list[Any], *, fired: bool = True) -> dict[str, str | None]:
    outcomes: Any = [SimpleNamespace(plan=plan, fired=fired) for plan in plans]
    return {step["id"]: step["scenario"] for step in crash_points(recording, outcomes)}


def test_every_crash_point_of_a_whole_plan_is_proved(recording: Any) -> None:
    assert None not in proved_by(recording, standard(recording.steps)).values()
    assert None not in proved_by(recording, live(recording.steps, [])).values()


def test_the_image_of_a_disk_comes_before_the_live_crash_at_it(recording: Any) -> None:
    assert proved_by(recording, standard(recording.steps))["commit/commits@0:after"] == "commit/commits@0:after"


def test_on_services_a_live_crash_proves_all_names_of_its_disk(recording: Any) -> None:
    plan = next(plan for plan in live(recording.steps, []) if plan.image is not None and len(plan.image.names) > 1)
    found = proved_by(recording, [plan])

    assert plan.image is not None
    assert {name for name, scenario in found.items() if scenario == plan.id} == set(plan.image.names)
    assert plan.id.endswith("+live")


def test_a_crash_that_did_not_fire_proves_nothing(recording: Any) -> None:
    assert set(proved_by(recording, live(recording.steps, []), fired=False).values()) == {None}


def test_the_scenario_that_is_looked_into_is_the_one_that_the_report_shows_first(recording: Any) -> None:
    recorded = [*standard(recording.steps), *live(recording.steps, [])]
    outcomes: Any = [SimpleNamespace(plan=plan) for plan in reversed(recorded)]
    reported: Any = [
        {"id": one.plan.id, "verdict": "fail", "phase": str(one.plan.step.phase), "batch": one.plan.step.batch} for one in outcomes
    ]

    first = first_to_read(outcomes)

    assert first is not None
    assert first.plan.id == explain.worst_first({"scenarios": reported})[0]["id"]  # type: ignore[typeddict-item]
    without_a_fault: Any = SimpleNamespace(plan=FAULT_FREE)
    assert first_to_read([*outcomes, without_a_fault]) is without_a_fault
    assert first_to_read([]) is None


def test_the_command_of_a_quick_plan_names_it_and_a_replay_takes_the_standard_one() -> None:
    request = Request(Options("my_job", selection=Selection(quick=True)), 7, "quick")

    assert request.command == "streamproof prove my_job --seed 7 --quick"
    assert request.replay("commit/commits@2:after") == "streamproof prove my_job --only commit/commits@2:after --seed 7"
