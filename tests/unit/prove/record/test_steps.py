import pytest

from streamproof.core.phases import Phase, StepName
from streamproof.prove.record.cuts import cuts
from streamproof.prove.record.steps import timeline
from unit.prove.record.recorder import Recorder


def names(steps):
    return [str(step) for step in steps]


def test_a_batch_from_plan_to_commit(recorded, layout):
    steps = timeline(recorded, layout).steps
    assert names(step for step in steps if step.act.batch == 1) == [
        "plan/source.0@1",
        "plan/offsets@1",
        "work/sst.0.0@1",
        "work/state.0.0@1",
        "work/checksum.state.0.0@1",
        "work/sst.0.1@1",
        "work/state.0.1@1",
        "work/checksum.state.0.1@1",
        "stage/exposure@1",
        "stage/exposure#2@1",
        "stage/manifest@1",
        "publish/exposure.ledger@1",
        "publish/exposure@1",
        "commit/commits@1",
    ]
    assert names(steps)[:2] == ["start/metadata@0", "start/incarnation@0"]


def test_every_name_is_unique_and_reads_back(recorded, layout):
    found = [step.name(side) for step in timeline(recorded, layout).steps for side in ("before", "after")]
    assert len({str(name) for name in found}) == len(found)
    assert all(StepName.parse(str(name)) == name for name in found)


def test_the_order_of_concurrent_tasks_does_not_change_the_timeline(tmp_path, layout):
    seen = []
    for number, order in enumerate([(0, 1), (1, 0)]):
        recorder = Recorder(tmp_path / str(number), ids=1000 * number)
        recorder.start()
        recorder.batch(0, partitions=order)
        seen.append(timeline(recorder.journal(), layout))
    assert names(seen[0].steps) == names(seen[1].steps)
    assert seen[0].comparable == seen[1].comparable


def test_the_partition_of_a_side_file_does_not_matter_between_two_runs(tmp_path, layout):
    """With trace ids in them another file of a batch may be the larger one, which Spark reads as partition 0."""
    seen = []
    for partition in (0, 1):
        recorder = Recorder(tmp_path / str(partition))
        name = f"out/late/_staging/000002-abcdef12/late-{partition:05d}-7.jsonl"
        recorder.atomic(name, b"{}", thread="task")
        seen.append(timeline(recorder.journal(), layout))
    assert names(seen[0].steps) != names(seen[1].steps)
    assert seen[0].comparable == seen[1].comparable == {"work/side.late@2"}


@pytest.mark.parametrize("checksum_first", [False, True])
def test_state_file_and_checksum_have_one_order_whichever_thread_was_faster(recorder, layout, checksum_first):
    name = f"checkpoint/exposure/state/0/0/1_{recorder.random_id()}.zip"
    for path in sorted([name, name + ".crc"], reverse=checksum_first):
        recorder.atomic(path, path.encode(), thread="pool")
    assert names(timeline(recorder.journal(), layout).steps) == ["work/state.0.0@0", "work/checksum.state.0.0@0"]


def test_pool_threads_work_for_the_task_of_their_partition(recorded, layout):
    acts = timeline(recorded, layout).acts
    pool = [act for act in acts if act.entry.thread.startswith("pool")]
    assert pool
    assert all(act.unit is not None for act in pool)
    groups = {act.unit.group for act in acts if act.unit is not None and act.batch == 1}
    assert len(groups) == 1, "the state and the rows of one stage belong together"


def test_a_snapshot_of_a_version_that_is_a_changelog_already_is_maintenance(recorder, layout):
    folder, version = "checkpoint/exposure/state/0/0", f"2_{recorder.random_id()}"
    recorder.atomic(f"{folder}/{version}.changelog", b"c", thread="pool")
    recorder.direct(f"{folder}/SSTs/000008-{recorder.random_id()}.sst", b"s", thread="state-store-maintenance-high-priority-0")
    recorder.atomic(f"{folder}/{version}.zip", b"z", thread="pool")
    steps = timeline(recorder.journal(), layout).steps
    assert names(steps) == ["work/state.0.0@1", "maintenance/snapshot-sst.0.0@1", "maintenance/snapshot.0.0@1"]
    assert [step.act.background for step in steps] == [False, True, True]
    assert timeline(recorder.journal(), layout).comparable == {"work/state.0.0@1"}


def test_state_of_the_hdfs_backed_store_is_a_delta_of_the_task_and_a_snapshot_of_the_maintenance(recorder, layout):
    """Spark's default store: `N.delta` per batch and partition by the task, `N.snapshot` and deletes by the maintenance, in a pool of the same threads."""
    folder, task = "checkpoint/exposure/state/0", {"batch": 1, "stage": 3, "attempt": 7}
    for partition in (1, 0):
        temporary = f"{folder}/{partition}/.2.delta.{recorder.random_id()}.TID7.tmp"
        recorder.direct(temporary, b"d", partition=partition, **task)
        recorder.log("rename", temporary, b"d", to=f"{folder}/{partition}/2.delta", partition=partition, **task)
    recorder.atomic(f"{folder}/0/2.snapshot", b"s", thread="pool")
    recorder.log("delete", f"{folder}/0/1.delta", thread="pool")
    found = timeline(recorder.journal(), layout)

    assert names(found.steps) == ["work/state.0.0@1", "work/state.0.1@1", "maintenance/snapshot.0.0@1"]
    assert [step.act.background for step in found.steps] == [False, False, True]
    assert not found.unknown
    assert [image.id for image in cuts(found) if "alone" in image.id] == [
        "work/state.0.0@1:after+alone-0",
        "work/state.0.1@1:after+alone-1",
    ]


def test_deletes_are_maintenance_of_the_batch_they_take_away(recorder, layout):
    recorder.batch(0)
    recorder.batch(1)
    recorder.log("delete", "checkpoint/exposure/offsets/0", thread="async-log-purge", batch=0)
    recorder.log("delete", "out/exposure/batch=000000", directory=True)
    recorder.log("delete", "checkpoint/exposure/nothing-there")
    found = timeline(recorder.journal(), layout).steps[-2:]
    assert names(found) == ["maintenance/offsets@0", "maintenance/published.exposure@0"]
    assert [(step.act.background, step.files) for step in found] == [(True, 1), (False, 3)]


def test_an_unknown_path_is_a_step_and_is_reported(recorder, layout):
    recorder.batch(0)
    recorder.direct("checkpoint/exposure/novelty/x", b"1")
    found = timeline(recorder.journal(), layout)
    assert str(found.steps[-1]) == "maintenance/other.x@0"
    assert found.steps[-1].phase is Phase.MAINTENANCE
    assert found.unknown == ("checkpoint/exposure/novelty/x",)


def test_temporary_files_are_no_steps(recorder, layout):
    recorder.direct("out/exposure/_staging/000000-ab/_temporary/0/x", b"1")
    recorder.log("delete", "out/exposure/_staging/000000-ab/_temporary", directory=True)
    assert timeline(recorder.journal(), layout).steps == ()


def test_a_later_spark_job_on_the_same_output_is_never_ahead_of_the_one_that_staged_its_rows(recorder, layout):
    def job(stage, folder):
        for partition in (0, 1):
            task = {"batch": 0, "stage": stage, "partition": partition, "attempt": stage}
            attempt = f"{folder}/_temporary/0/_temporary/attempt_2026_{partition}"
            recorder.direct(f"{attempt}/part-{partition}.parquet", b"rows", **task)
            recorder.log("rename", attempt, to=f"{folder}/_temporary/0/task_{partition}", directory=True, **task)

    job(1, "out/exposure/_staging/000000-0000000a")
    recorder.atomic("checkpoint/exposure/_streamproof/manifests/0", b"manifest")
    job(2, "out/exposure/batch=000000")
    acts = timeline(recorder.journal(), layout).acts
    stages = [act.entry.task.stage if act.entry.task else "manifest" for act in acts]

    assert stages == sorted(stages, key=lambda stage: {1: 0, "manifest": 1, 2: 2}[stage])
