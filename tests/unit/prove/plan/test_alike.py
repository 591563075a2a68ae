"""The same fault in another plan: at the same step in another batch, else at the nearest of its kind, never another fault."""

from streamproof.core.phases import StepName
from streamproof.prove.plan.alike import alike
from streamproof.prove.plan.planning import FAULT_FREE, Mode, ScenarioPlan
from streamproof.prove.record.images import Image


def disk(*names: str, suffix: str = "", fault: str = "process-death") -> ScenarioPlan:
    step = StepName.parse(names[-1])
    name = f"{names[-1]}{suffix}"
    return ScenarioPlan(name, Mode.IMAGE, fault, step, Image(name, step, names, {}, name))


def live(name: str) -> ScenarioPlan:
    return ScenarioPlan(f"{name}+live", Mode.LIVE, "process-death", StepName.parse(name))


WANTED = disk("publish/out@2:after")


def test_the_same_step_in_the_batch_that_is_asked_for():
    plans = [disk("publish/out@0:before"), disk("publish/out@0:after"), disk("publish/out@1:after")]

    assert alike(plans, WANTED, 1) is plans[2]


def test_a_disk_is_known_by_each_of_its_names():
    plans = [disk("commit/commits@0:before", "publish/out@1:after", "work/side.late.0@0:after")]

    assert alike(plans, WANTED, 1) is plans[0]


def test_else_the_nearest_step_of_its_kind():
    plans = [disk("work/state.0.1@0:after"), disk("work/state.0.3@2:after"), disk("work/side.late.0@1:after")]

    assert alike(plans, disk("work/state.0.2@1:after"), 3) is plans[1]


def test_another_fault_or_another_way_to_it_is_not_the_same():
    plans = [
        live("publish/out@2:after"),
        disk("publish/out@2:after", suffix="+torn", fault="machine-death"),
        disk("publish/out@2:before"),
    ]

    assert alike(plans, WANTED, 2) is None
    assert alike(plans, live("publish/out@5:after"), 2) is plans[0]


def test_the_run_without_a_fault_has_no_step():
    assert alike([WANTED], FAULT_FREE, 0) is None
