"""Faults that jobs on files meet too: where they are planned, what they are called, what they ask for, and when they have fired (P5)."""

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from streamproof.core.notes import Note, NoteCode
from streamproof.core.phases import StepName
from streamproof.errors import DataError, OutputInUse, PlanChanged, StoreEmptied, TwoDrivers, UnknownFormat
from streamproof.prove.execution import _moved_away
from streamproof.prove.faults.on_files import Case, NotMet, Unmet
from streamproof.prove.faults.starts import OTHER_SETTINGS, OUTSIDE_SETTINGS
from streamproof.prove.plan import on_files
from streamproof.prove.plan.planning import Mode, ScenarioPlan, additional, chosen, in_words, standard
from streamproof.prove.process.task import ChildResult
from streamproof.prove.record.deaths import deaths_of_several
from streamproof.prove.record.images import prefixes
from streamproof.prove.record.journal import attempts
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
        "plan/offsets@1:after+outside-settings",
        "commit/commits@1:after+changed-job",
        "plan/offsets@1:after+clock-moved",
        "plan/offsets@1:after+clock-moved-back",
        "publish/exposure@2:after+batch-gone",
        "publish/exposure@1:after+other-driver",
        "commit/commits@1:after+incarnation-torn",
        "stage/manifest@1:after+unknown-format",
    ]


def test_an_older_batch_can_be_gone_only_where_three_are_published(recorder, layout):
    recorder.start()
    recorder.batch(0)
    recorder.batch(1)

    assert not any(plan.fault == "batch-gone" for plan in on_files.plans(timeline(recorder.journal(), layout)))


def test_what_a_sink_of_the_job_has_published_is_left_to_it(recorder, layout):
    recorder.start()
    for batch in range(3):
        recorder.batch(batch)

    found = {plan.fault for plan in on_files.plans(timeline(recorder.journal(), layout), own_sinks=["exposure"])}

    assert not found & {"batch-gone", "other-driver"}
    assert "incarnation-torn" in found


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
        (
            "*+changed-job",
            "the process dies, and a job that keeps other state starts after Spark wrote the commit log of batch 1",
        ),
        (
            "*+batch-gone",
            "the process dies, and an older batch of the output is gone until it is put back, after output exposure of batch 2 was published, "
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
        output=tmp_path / "out" / "exposure",
        inputs=lambda: [tmp_path / "events" / "part-1-0.json"],
        newest_us=lambda: NEWEST_US,
        max_future_us=FIVE_MINUTES_US,
        start=lambda **_: ChildResult(),
        armed=lambda: nullcontext(),  # type: ignore[arg-type, return-value]
        fired=True,
    )


def carried_out(name, case):
    fault = next(fault for fault in on_files.FAULTS if fault.name == name)
    return fault.carry_out(case)


@pytest.mark.parametrize(("fired", "tried", "both"), [(True, 2, True), (True, 1, False), (False, 2, False)])
def test_a_task_was_tried_again_if_its_attempt_was_ended_and_another_one_wrote(case, fired, tried, both):
    ended = ChildResult("x", "It stops.")
    run = SimpleNamespace(start=lambda: ended, fired=fired, attempts=lambda batch: tried if batch == 1 else 0)
    tried_again = replace(case, armed=lambda: nullcontext(run))

    assert carried_out("task-retried", tried_again) is ended
    assert tried_again.fired is both


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


def test_replay_last_writes_the_commit_anew_and_lets_stand_what_is_whole(case):
    with pytest.raises(NotMet, match="--replay-last has not computed the newest batch again"):
        carried_out("replay-last", case)

    commit, published = case.checkpoint / "commits" / "1", case.outputs / "exposure" / "batch=000001"
    asked = []

    def start(**how):
        asked.append(how)
        commit.unlink()
        commit.write_text("v1\n{}")
        return ChildResult()

    def start_and_publish(**how):
        (published / "part.json").rename(published / "other.json")
        return start(**how)

    carried_out("replay-last", replace(case, start=start))
    assert asked == [{"replay_last": True}]
    with pytest.raises(NotMet, match="--replay-last has published anew") as found:
        carried_out("replay-last", replace(case, start=start_and_publish))
    assert found.value.found == "others: exposure/batch=000001/part.json"


@pytest.mark.parametrize(("noted", "fired"), [(1, False), (2, True)])
def test_settings_from_outside_have_fired_where_each_was_noted(case, noted, fired):
    asked = []
    notes = tuple(Note(NoteCode.SET_FROM_OUTSIDE, "It was another one.", key) for key in list(OUTSIDE_SETTINGS)[:noted])
    case.start = lambda **how: asked.append(how) or ChildResult(notes=notes)

    carried_out("outside-settings", case)

    assert case.fired is fired
    assert asked == [{"from_outside": OUTSIDE_SETTINGS}]


def test_r25_a_changed_job_must_be_refused_and_starts_as_it_was_for_the_remedy(case):
    asked = []
    refusing = stops_with(PlanChanged, case)
    case.start = lambda **how: asked.append(how) or refusing.start()

    result = carried_out("changed-job", case)

    assert not result.code
    assert asked == [{"changed": True}, {}]
    with pytest.raises(NotMet, match="did not stop cleanly"):
        carried_out("changed-job", replace(case, start=lambda **_: ChildResult()))


def published_by(case, batch):
    """The ledger of a batch that a manifest has published."""
    ledger = case.output / f"batch={batch:06d}" / "_ledger.json"
    ledger.parent.mkdir(exist_ok=True)
    ledger.write_text(json.dumps({"manifest": "abc", "batch": batch}))
    return ledger


def test_r26_a_batch_from_between_others_is_away_while_the_job_starts_and_back_for_the_remedy(case):
    ledgers = [published_by(case, batch) for batch in (0, 1, 2)]
    there = []

    result = carried_out(
        "batch-gone", stops_with(StoreEmptied, case, lambda: there.append([ledger.exists() for ledger in ledgers]))
    )

    assert not result.code
    assert there == [[True, False, True], [True, True, True]]
    with pytest.raises(NotMet, match="did not stop cleanly"):
        carried_out("batch-gone", case)


def test_a_batch_is_not_gone_where_there_are_only_two(case):
    published_by(case, 0)

    carried_out("batch-gone", case)

    assert not case.fired


def test_r7_a_batch_is_another_drivers_while_the_job_starts(case):
    ledger = published_by(case, 1)
    said = []

    result = carried_out(
        "other-driver", stops_with(TwoDrivers, case, lambda: said.append(json.loads(ledger.read_text())["manifest"]))
    )

    assert not result.code
    assert said == ["000", "abc"]
    with pytest.raises(NotMet, match="did not stop cleanly"):
        carried_out("other-driver", case)


def test_r30_a_manifest_of_an_unknown_format_stops_the_job_and_stays_until_it_is_put_back(case):
    manifest = case.checkpoint / "_streamproof" / "manifests" / "1"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"format": 1, "batch": 1}')
    seen = []

    result = carried_out(
        "unknown-format", stops_with(UnknownFormat, case, lambda: seen.append(json.loads(manifest.read_text())["format"]))
    )

    assert not result.code
    assert seen == [1_000_000, 1]
    with pytest.raises(NotMet, match="from a manifest of an unknown format"):
        carried_out("unknown-format", stops_with(UnknownFormat, case, manifest.unlink))


def test_r1_a_torn_incarnation_is_made_again_as_it_was(case):
    file = case.checkpoint / "_streamproof" / "incarnation.json"
    file.parent.mkdir()
    whole = json.dumps({"incarnation": "i-1"})
    seen = []

    def start(incarnation):
        def started(**_):
            seen.append(file.read_text())
            file.write_text(json.dumps({"incarnation": incarnation}))
            return ChildResult()

        return started

    file.write_text(whole)
    carried_out("incarnation-torn", replace(case, start=start("i-1")))
    assert seen == [whole[: len(whole) // 2]]

    file.write_text(whole)
    with pytest.raises(NotMet, match="under another incarnation"):
        carried_out("incarnation-torn", replace(case, start=start("i-2")))


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
    staged = {plan.id for plan in found if plan.id.endswith("-staged")}
    assert staged == {f"publish/exposure@1:after+{how}-staged" for how in ("dropped", "emptied", "truncated")}


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
