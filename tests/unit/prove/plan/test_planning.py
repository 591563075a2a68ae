"""What scenarios are called, how they are chosen, in which order they run, and what a crash is in words."""

from pathlib import Path

import pytest

from streamproof.core.phases import StepName
from streamproof.errors import ScenarioError
from streamproof.prove.options import Selection
from streamproof.prove.plan.planning import (
    Mode,
    ScenarioPlan,
    before_commits,
    before_writes,
    chosen,
    in_order,
    in_words,
    live,
    quick,
    standard,
)
from streamproof.prove.record.images import Image
from streamproof.prove.record.steps import Timeline, timeline
from unit.prove.record.recorder import LAYOUT, Recorder


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
        (
            "publish/exposure.lines.copy#2@1:before",
            "the process dies before file 2 of the copy for output exposure.lines of batch 1 was written",
        ),
        (
            "publish/exposure.lines.ledger@1:before",
            "the process dies before the ledger of output exposure.lines of batch 1 was written",
        ),
    ],
)
def test_a_crash_in_words(step: str, words: str) -> None:
    assert in_words(planned(step)) == words


def test_the_run_without_a_fault_can_be_asked_for_by_its_id_as_its_replay_line_does():
    assert chosen([], "fault-free") == []


@pytest.fixture
def three_batches(tmp_path: Path) -> Timeline:
    recorder = Recorder(tmp_path / "recording")
    recorder.start()
    for batch in range(3):
        recorder.batch(batch)
    return timeline(recorder.journal(), LAYOUT)


def kind(step: StepName | None) -> tuple[str, str, str]:
    assert step is not None
    return str(step.phase), "".join(part for part in step.kind.split(".") if not part.isdigit()), str(step.side)


def test_a_quick_plan_has_one_disk_for_each_kind_of_step_in_the_middle_batch(three_batches: Timeline) -> None:
    whole = standard(three_batches)
    images = [plan for plan in quick(whole) if plan.mode is Mode.IMAGE]
    kinds = [kind(plan.step) for plan in images]

    assert len(set(kinds)) == len(kinds) < sum(plan.mode is Mode.IMAGE for plan in whole) / 2
    assert set(kinds) == {kind(plan.step) for plan in whole}
    assert {plan.step.batch for plan in images if plan.step and str(plan.step.phase) != "start"} == {1}


def test_a_quick_plan_has_the_live_crash_of_every_phase_with_the_image_it_is_compared_with(three_batches: Timeline) -> None:
    whole = standard(three_batches)
    taken = quick(whole)
    crashes = [plan for plan in taken if plan.mode is Mode.LIVE]

    assert crashes == [plan for plan in whole if plan.mode is Mode.LIVE]
    assert {plan.step for plan in crashes} <= {plan.step for plan in taken if plan.mode is Mode.IMAGE}
    assert [plan.id for plan in taken] == [plan.id for plan in whole if plan in taken], "in the order of the whole plan"


def test_a_kind_that_the_middle_batch_has_not_is_taken_from_the_batch_next_to_it() -> None:
    plans = [planned("work/side.late.0@0:after"), *(planned(f"commit/commits@{batch}:after") for batch in range(5))]

    assert [plan.id for plan in quick(plans)] == ["work/side.late.0@0:after", "commit/commits@2:after"]


def test_a_kind_whose_only_disk_bears_the_name_of_another_step_is_tried_too() -> None:
    plans = [
        planned("stage/manifest@0:after", "maintenance/staging.exposure@0:after"),
        *(planned(f"stage/manifest@{batch}:after") for batch in (1, 2)),
    ]

    assert [plan.id for plan in quick(plans)] == ["stage/manifest@0:after", "stage/manifest@1:after"]


def test_on_services_a_quick_plan_has_one_live_crash_for_each_kind_of_step(three_batches: Timeline) -> None:
    announced = [StepName.parse(f"publish/kept.{shard}@{batch}:before") for batch in range(3) for shard in range(2)]
    whole = live(three_batches, announced)
    taken = quick(whole)

    assert {kind(plan.step) for plan in taken} == {kind(plan.step) for plan in whole}
    assert len({kind(plan.step) for plan in taken}) == len(taken)
    assert [plan.id for plan in taken if plan.step in announced] == ["publish/kept.1@1:before+live"]


def test_a_job_with_a_function_of_its_own_dies_before_the_first_file_of_a_batch_too(three_batches: Timeline) -> None:
    """What the function has noted elsewhere is there, and no row is: no disk tells that from a crash after the plan of the batch."""
    found = live(three_batches, ())
    tried = [*before_commits(three_batches), *found, *before_writes(three_batches)]
    before = [f"publish/exposure@{batch}:before+live" for batch in range(3)]

    assert [plan.id for plan in before_writes(three_batches) if plan.step and plan.step.kind == "exposure"] == before
    assert not {plan.id for plan in found} & {*before}
    assert [plan.id for plan in quick(tried) if plan.id in before] == [before[1]]


def test_a_quick_and_a_full_plan_exclude_each_other() -> None:
    with pytest.raises(ScenarioError, match="exclude each other"):
        Selection(quick=True, full=True)
