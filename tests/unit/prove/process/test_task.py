"""What a child is told reaches it as it was said."""

from pathlib import Path

from streamproof.prove.process.guard import Limits
from streamproof.prove.process.task import STEPS, ChildTask, Conditions, Door
from streamproof.prove.record.binding import ScenarioBinding

BINDING = ScenarioBinding(
    "sp-record://a/disk", Path("/disk"), {"trades": "/events"}, None, 7, {"kafka": "h:1"}, {"STORE": "postgresql://h/d"}
)
TASK = ChildTask(
    "s1",
    {"runner": "a.module", "target": "job"},
    BINDING,
    "/children/s1.json",
    Door(4711, "secret"),
    Limits(("host",), ("/disk",), (1, 2), own_network=True, record="/children/s1.json.refused"),
    Conditions(trace=False, replay_last=True, settings={"a": "1"}, crash_at="publish/rows@3:after", desk="/desk"),
    {"rows": {"0": "dedupe"}},
)


def test_a_task_is_the_same_once_it_was_written_and_read() -> None:
    assert ChildTask.from_json(TASK.to_json()) == TASK


def test_settings_go_on_under_other_conditions() -> None:
    others = TASK.under(read_state=False, settings={"b": "2"}).conditions

    assert others == Conditions(
        trace=False,
        replay_last=True,
        read_state=False,
        settings={"a": "1", "b": "2"},
        crash_at="publish/rows@3:after",
        desk="/desk",
    )


def test_steps_are_written_where_there_are_services_only() -> None:
    assert TASK.steps == f"/disk/{STEPS}"
    assert ChildTask("s1", {}, ScenarioBinding("/disk", Path("/disk"), {}, None), "").steps == ""
