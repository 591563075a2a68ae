"""Faults that jobs on files meet too: where they are planned, what they are called, what they ask for, and when they have fired (P5)."""

import re
from dataclasses import replace

import pytest

from streamproof.core.phases import StepName
from streamproof.errors import DataError, OutputInUse
from streamproof.prove.execution import _moved_away
from streamproof.prove.faults.injection_on_files import attempts
from streamproof.prove.faults.on_files import Case, NotMet, Unmet
from streamproof.prove.faults.starts import OTHER_SETTINGS
from streamproof.prove.plan import on_files
from streamproof.prove.plan.planning import Mode, ScenarioPlan, additional, chosen, in_words, standard
from streamproof.prove.process.child import ChildResult
from streamproof.prove.record.deaths import deaths_of_several
from streamproof.prove.record.images import prefixes
from streamproof.prove.record.live import Action, arming_task
from streamproof.prove.record.steps import timeline

NEWEST_US, FIVE_MINUTES_US, PLANNED_MS = 1_000_000_000_000, 300_000_000, 1_760_000_000_000
OFFSETS = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":%d,"conf":{}}\n{"logOffset":1}'


@pytest.fixture
def plans(recorder, layout):
    """Of three batches, the middle one with side rows."""
    recorder.start()
    recorder.batch(0)
    recorder.batch(1, late=True)
    recorder.batch(2)
    return {plan.id: plan for plan in on_files.plans(timeline(recorder.journal(), layout))}


def test_each_is_planned_once_in_the_middle_batch(plans):
    assert list(plans) == [
        "work/side.late.0@1:after+task-retried+live",
        "stage/exposure@1:before+task-retried+live",
        "plan/offsets@1:after+input-vanished",
        "commit/commits@1:after+new-checkpoint",
        "commit/commits@1:after+replay-last",
        "publish/exposure@1:after+other-settings",
        "plan/offsets@1:after+clock-moved",
        "plan/offsets@1:after+clock-moved-back",
    ]


def test_they_are_no_names_of_the_disks_they_begin_with(plans, recorder, layout):
    disks = standard(timeline(recorder.journal(), layout))

    found = chosen([*disks, *plans.values()], "commit/commits@1:after")

    assert [plan.id for plan in found] == ["commit/commits@1:after"]
    assert not any(plan.is_disk for plan in plans.values())


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            "work/*+task-retried+live",
            "the task that writes them fails and is tried again after side rows late.0 of batch 1 were written",
        ),
        (
            "stage/*+task-retried+live",
            "the task that has written them fails and is tried again before rows of output exposure of batch 1 were staged",
        ),
        (
            "*+input-vanished",
            "the process dies and an input file of the batch is gone until it is put back, after Spark planned the offsets of batch 1",
        ),
        (
            "*+new-checkpoint",
            "the job starts with a new checkpoint over its used outputs after Spark wrote the commit log of batch 1",
        ),
        (
            "*+replay-last",
            "the process dies, and starts again with --replay-last, after Spark wrote the commit log of batch 1",
        ),
        (
            "*+other-settings",
            "the process dies, and starts again with other settings of Spark, after output exposure of batch 1 was published, "
            "before Spark committed the batch",
        ),
        ("*+clock-moved", "the process dies and the wall clock is moved on after Spark planned the offsets of batch 1"),
    ],
)
def test_what_happens_is_said_in_words(plans, fault, words):
    (plan,) = chosen(list(plans.values()), fault)

    assert in_words(plan) == words


def test_a_task_is_hit_at_its_own_rename_behind_which_the_driver_stages_the_rows(plans, recorder, layout):
    steps = timeline(recorder.journal(), layout)

    rows = arming_task(steps, StepName.parse("stage/exposure@1:before"))
    side = arming_task(steps, StepName.parse("work/side.late.0@1:after"))

    assert rows is not None
    assert side is not None
    assert (rows.operation, rows.side, rows.occurrence, rows.action) == ("rename", "after", 1, Action.RETRY)
    tasks = [act.entry.target for act in steps.acts if re.search(rows.path, f"/{act.entry.target}")]
    assert len(tasks) == 2
    assert all("/000001-" in path for path in tasks)
    assert (side.side, side.action) == ("after", Action.RETRY)
    assert arming_task(steps, StepName.parse("commit/commits@1:after")) is None


def test_two_attempts_of_one_task_are_seen_in_the_journal_of_their_batch(recorder):
    first = {"batch": 1, "stage": 3, "partition": 0, "attempt": 30}
    recorder.direct("out/late/a", b"rows", **first)
    recorder.direct("out/late/b", b"rows", **{**first, "partition": 1, "attempt": 31})
    assert attempts(recorder.journal(), 1) == 1

    recorder.direct("out/late/c", b"rows", **{**first, "attempt": 32})

    assert attempts(recorder.journal(), 1) == 2
    assert attempts(recorder.journal(), 0) == 0


@pytest.fixture
def case(tmp_path):
    """A disk with a planned and committed batch 1 and one published file; every start ends well."""
    checkpoint = tmp_path / "checkpoint" / "exposure"
    for path, text in (
        (checkpoint / "offsets" / "1", OFFSETS % PLANNED_MS),
        (checkpoint / "commits" / "1", "v1\n{}"),
        (tmp_path / "out" / "exposure" / "batch=000001" / "part.json", "{}"),
        (tmp_path / "events" / "part-1-0.json", "{}"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Case(
        batch=1,
        checkpoint=checkpoint,
        checkpoints=tmp_path / "checkpoint",
        outputs=tmp_path / "out",
        inputs=lambda: [tmp_path / "events" / "part-1-0.json"],
        newest_us=lambda: NEWEST_US,
        max_future_us=FIVE_MINUTES_US,
        start=lambda **_: ChildResult(),
        try_again=lambda: (True, ChildResult()),
        fired=True,
    )


def carried_out(name, case):
    fault = next(fault for fault in on_files.FAULTS if fault.name == name)
    return fault.carry_out(case)


def stops_with(error, case, then=lambda: None):
    """Starts that end with an error the first time, and well from then on."""
    results = [ChildResult(error.code, "It stops."), ChildResult()]

    def start(**_):
        then()
        return results.pop(0)

    return replace(case, start=start)


def test_an_input_that_vanished_is_away_while_the_job_starts_and_back_for_the_remedy(case):
    (file,) = case.inputs()
    there = []

    result = carried_out("input-vanished", stops_with(DataError, case, lambda: there.append(file.exists())))

    assert not result.code
    assert there == [False, True]


def test_a_job_that_goes_on_without_its_input_fails_and_the_input_is_put_back(case):
    with pytest.raises(NotMet) as found:
        carried_out("input-vanished", case)

    assert (found.value.code, found.value.found) == (Unmet.NOT_STOPPED, "it ran to its end")
    assert case.inputs()[0].exists()


def test_a_batch_without_its_input_publishes_nothing(case):
    published = case.outputs / "exposure" / "batch=000002"

    with pytest.raises(NotMet, match="something of a batch was published") as found:
        carried_out("input-vanished", stops_with(DataError, case, lambda: published.write_text("rows")))

    assert found.value.found == "others: exposure/batch=000002"


def test_a_new_checkpoint_finds_none_and_the_old_one_is_put_back(case):
    there = []

    result = carried_out("new-checkpoint", stops_with(OutputInUse, case, lambda: there.append(case.checkpoints.exists())))

    assert not result.code
    assert there == [False, True]
    assert (case.checkpoint / "commits" / "1").exists()


def test_outputs_stay_as_they_are_under_a_new_checkpoint(case):
    staged = case.outputs / "exposure" / "_staging"

    with pytest.raises(NotMet, match="a new checkpoint has changed outputs"):
        carried_out("new-checkpoint", stops_with(OutputInUse, case, lambda: staged.write_text("rows")))


def test_replay_last_has_fired_once_the_commit_is_written_anew(case):
    carried_out("replay-last", case)
    assert not case.fired

    commit = case.checkpoint / "commits" / "1"
    asked = []

    def start(**how):
        asked.append(how)
        commit.unlink()
        commit.write_text("v1\n{}")
        return ChildResult()

    again = replace(case, start=start, fired=True)
    carried_out("replay-last", again)

    assert again.fired
    assert asked == [{"replay_last": True}]


@pytest.mark.parametrize(("widest", "fired"), [(2, False), (5, True)])
def test_other_settings_have_fired_where_a_stage_had_more_tasks(case, widest, fired):
    asked = []
    case.start = lambda **how: asked.append(how) or ChildResult(widest=widest)

    carried_out("other-settings", case)

    assert case.fired is fired
    assert asked == [{"settings": OTHER_SETTINGS}]


def test_by_the_clock_that_was_behind_the_newest_event_of_the_batch_is_a_future_one(case):
    carried_out("clock-moved", case)

    moved = NEWEST_US // 1_000 - FIVE_MINUTES_US // 1_000 - 1
    assert (case.checkpoint / "offsets" / "1").read_text() == OFFSETS % moved
    assert moved * 1_000 + FIVE_MINUTES_US < NEWEST_US
    assert case.fired


def test_a_clock_has_not_moved_where_the_batch_was_planned_anew(case):
    case.start = lambda **_: (case.checkpoint / "offsets" / "1").write_text(OFFSETS % PLANNED_MS) and ChildResult()

    carried_out("clock-moved", case)

    assert not case.fired


def test_a_clock_that_was_ahead_is_moved_back(case):
    carried_out("clock-moved-back", case)

    assert (case.checkpoint / "offsets" / "1").read_text() == OFFSETS % (PLANNED_MS + 7_200_000)
    assert case.fired


def test_where_nobody_asks_for_the_future_the_clock_is_moved_by_two_hours(case):
    carried_out("clock-moved", replace(case, max_future_us=None))

    assert (case.checkpoint / "offsets" / "1").read_text() == OFFSETS % (PLANNED_MS - 7_200_000)


def test_several_files_are_lost_behind_the_manifest_the_publication_and_the_commit_of_the_middle_batch(plans, recorder, layout):
    found = [plan for plan in additional(timeline(recorder.journal(), layout)) if plan.fault == "machine-death"]

    several = {plan.id.rpartition("+")[0] for plan in found if plan.id.endswith(("-and-manifest", "-manifests", "-and-state"))}
    assert several == {"stage/manifest@1:after", "publish/exposure@1:after", "commit/commits@1:after"}


def test_what_is_torn_of_a_published_batch_is_moved_away_once(recorder, layout, tmp_path):
    recorder.batch(0)
    commit = prefixes(timeline(recorder.journal(), layout))[-1]
    torn = next(image for image in deaths_of_several(commit) if image.id.endswith("+truncated-rows-and-manifest"))
    published = tmp_path / "out" / "exposure" / "batch=000000"
    published.mkdir(parents=True)
    plan = ScenarioPlan(torn.id, Mode.IMAGE, "machine-death", torn.step, torn)

    assert _moved_away(plan, tmp_path)
    assert not published.exists()
    assert not _moved_away(plan, tmp_path)
