import re

import pytest

from streamproof.core.phases import Side
from streamproof.errors import StreamproofError
from streamproof.prove.record.live import Action, arming
from streamproof.prove.record.steps import timeline
from unit.prove.record.recorder import Recorder


def test_an_arming_names_operation_path_and_side(recorded, layout):
    found = arming(timeline(recorded, layout), "publish/exposure@1:after")
    assert found.arguments() == ("rename", r"/out/exposure/batch=000001$", "after", 1, "die")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_every_step_of_one_run_is_hit_exactly_once_in_another(recorded, layout, tmp_path, order):
    again = Recorder(tmp_path / "again", ids=500)
    again.start()
    again.batch(0, partitions=order)
    again.batch(1, partitions=order)
    other = timeline(again.journal(), layout)
    first = timeline(recorded, layout)
    for step in first.steps:
        armed = arming(first, step.name(Side.BEFORE))
        hits = [
            act.entry.seq
            for act in other.acts
            if act.entry.operation == armed.operation and re.search(armed.path, f"/elsewhere/{act.entry.target}")
        ]
        struck = sorted(hits)[armed.occurrence - 1]
        assert struck == next(found.act.entry.seq for found in other.steps if str(found) == str(step))


def test_a_child_process_gets_it_as_configuration(recorded, layout):
    armed = arming(timeline(recorded, layout), "plan/offsets@1:before", action=Action.KILL)
    assert armed.configuration("rec-1", "/somewhere") == {
        "spark.hadoop.streamproof.recording.rec-1.folder": "/somewhere",
        "spark.hadoop.streamproof.recording.rec-1.fault.operation": "rename",
        "spark.hadoop.streamproof.recording.rec-1.fault.path": r"/checkpoint/exposure/offsets/1$",
        "spark.hadoop.streamproof.recording.rec-1.fault.side": "before",
        "spark.hadoop.streamproof.recording.rec-1.fault.occurrence": "1",
        "spark.hadoop.streamproof.recording.rec-1.fault.action": "kill",
    }


def test_a_step_that_was_not_recorded_is_refused(recorded, layout):
    with pytest.raises(StreamproofError, match=r"no step plan/offsets@9:after"):
        arming(timeline(recorded, layout), "plan/offsets@9:after")
