"""What the report says of a proof: which scenario proves a crash point."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.prove.assembling import Request, crash_points
from streamproof.prove.options import Options, Selection
from streamproof.prove.plan.planning import live, standard
from streamproof.prove.record.steps import timeline
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


def test_the_command_of_a_quick_plan_names_it_and_a_replay_takes_the_standard_one() -> None:
    request = Request(Options("my_job", selection=Selection(quick=True)), 7, "quick")

    assert request.command == "streamproof prove my_job --seed 7 --quick"
    assert request.replay("commit/commits@2:after") == "streamproof prove my_job --only commit/commits@2:after --seed 7"
