"""What scenarios are called, how they are chosen, in which order they run, and what a crash is in words."""

import pytest

from streamproof.core.phases import StepName
from streamproof.errors import ScenarioError
from streamproof.prove.planning import Mode, ScenarioPlan, chosen, in_order, in_words
from streamproof.prove.record.images import Image


def planned(step: str, *more: str, mode: Mode = Mode.IMAGE, fault: str = "process-death") -> ScenarioPlan:
    name = StepName.parse(step)
    image = Image(step, name, (step, *more), {}, step)
    return ScenarioPlan(step if mode is Mode.IMAGE else f"{step}+live", mode, fault, name, image)


PLANS = [
    planned("plan/offsets@0:after"),
    planned("work/state.0.1@1:after", "work/state.0.0@1:before"),
    planned("publish/exposure@1:after"),
    planned("commit/commits@2:after"),
]


def test_only_takes_an_id_another_name_of_the_same_disk_or_a_glob() -> None:
    assert [plan.id for plan in chosen(PLANS, "publish/exposure@1:after")] == ["publish/exposure@1:after"]
    assert [plan.id for plan in chosen(PLANS, "work/state.0.0@1:before")] == ["work/state.0.1@1:after"]
    assert [plan.id for plan in chosen(PLANS, "*@1:*")] == ["work/state.0.1@1:after", "publish/exposure@1:after"]
    assert [plan.id for plan in chosen(PLANS, "commit/*,publish/exposure@1:after")] == [
        "publish/exposure@1:after",
        "commit/commits@2:after",
    ]
    assert chosen(PLANS, None) == PLANS


def test_a_step_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(ScenarioError, match="publish/exposure@1:after"):
        chosen(PLANS, "publish/exposur@1:after")


def test_publish_and_commit_of_the_middle_batch_come_first() -> None:
    assert next(plan.id for plan in in_order(PLANS)) == "publish/exposure@1:after"
    assert sorted(plan.id for plan in in_order(PLANS)) == sorted(plan.id for plan in PLANS)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            "publish/exposure@3:after",
            "the process dies after output exposure of batch 3 was published, before Spark committed the batch",
        ),
        ("plan/offsets@0:before", "the process dies before Spark planned the offsets of batch 0"),
        ("start/metadata@0:after", "the process dies after Spark wrote its query id"),
        ("work/state.1.0@2:after", "the process dies after the state 1.0 of batch 2 was saved"),
    ],
)
def test_a_crash_in_words(step: str, words: str) -> None:
    assert in_words(planned(step)) == words


def test_the_run_without_a_fault_can_be_asked_for_by_its_id_as_its_replay_line_does():
    assert chosen([], "fault-free") == []
