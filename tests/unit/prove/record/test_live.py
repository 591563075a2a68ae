import re

import pytest

from streamproof.core.phases import Side
from streamproof.errors import StreamproofError
from streamproof.prove.record.journal import Operation
from streamproof.prove.record.live import Action, Arming, arming
from streamproof.prove.record.steps import Timeline, timeline
from unit.prove.record.recorder import Recorder


def test_an_arming_names_operation_path_and_side(recorded, layout):
    found = arming(timeline(recorded, layout), "publish/exposure@1:after")
    assert found.arguments() == ("rename", r"/out/exposure/batch=000001$", "after", 1, r"/checkpoint/exposure/offsets/1$", "die")


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
        assert struck(armed, other) == next(found.act.entry.seq for found in other.steps if str(found) == str(step))


def test_table_files_are_counted_within_their_batch(recorded, layout, tmp_path):
    again = Recorder(tmp_path / "again", ids=500)
    again.start()
    again.batch(0)
    again.direct(f"checkpoint/exposure/state/0/1/SSTs/000009-{again.random_id()}.sst", b"one more than was recorded")
    again.batch(1)

    step = next(found for found in timeline(recorded, layout).steps if str(found) == "work/sst.0.1@1")
    hit = struck(arming(timeline(recorded, layout), step.name(Side.AFTER)), timeline(again.journal(), layout))

    assert hit == next(found.act.entry.seq for found in timeline(again.journal(), layout).steps if str(found) == str(step))


def struck(armed: Arming, run: Timeline) -> int:
    """The number of the operation that the fault hits, as the JVM counts."""
    entries = sorted((act.entry for act in run.acts), key=lambda entry: entry.seq)
    begins = [
        entry.seq
        for entry in entries
        if entry.operation is Operation.RENAME and re.search(armed.since, f"/elsewhere/{entry.target}")
    ]
    hits = [
        entry.seq
        for entry in entries
        if entry.operation == armed.operation
        and re.search(armed.path, f"/elsewhere/{entry.target}")
        and (not armed.since or entry.seq > begins[0])
    ]
    return hits[armed.occurrence - 1]


def test_a_child_process_gets_it_as_configuration(recorded, layout):
    armed = arming(timeline(recorded, layout), "plan/offsets@1:before", action=Action.KILL)
    assert armed.configuration("rec-1", "/somewhere") == {
        "spark.hadoop.streamproof.recording.rec-1.folder": "/somewhere",
        "spark.hadoop.streamproof.recording.rec-1.fault.operation": "rename",
        "spark.hadoop.streamproof.recording.rec-1.fault.path": r"/checkpoint/exposure/offsets/1$",
        "spark.hadoop.streamproof.recording.rec-1.fault.side": "before",
        "spark.hadoop.streamproof.recording.rec-1.fault.occurrence": "1",
        "spark.hadoop.streamproof.recording.rec-1.fault.since": "",
        "spark.hadoop.streamproof.recording.rec-1.fault.action": "kill",
    }


def test_a_step_that_was_not_recorded_is_refused(recorded, layout):
    with pytest.raises(StreamproofError, match=r"no step plan/offsets@9:after"):
        arming(timeline(recorded, layout), "plan/offsets@9:after")
