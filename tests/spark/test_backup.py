"""A checkpoint is backed up, destroyed and restored: the job does the batches since as they were planned, and nothing is lost or doubled."""

import os
import shutil
from dataclasses import replace

import pytest

import streamproof as sp
from spark.small_job import SUMS, Binding, SmallJob, event
from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.core.notes import NoteCode
from streamproof.errors import CheckpointError, FingerprintMismatch, WrongCheckpoint
from streamproof.runtime import as_planned
from streamproof.runtime.watching.backup_events import BackedUp, BackupFailed
from streamproof.runtime.watching.events import BatchStaged, Note, QueryStarted
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.recover import recover
from streamproof.savepoints.restore import restore

DEDUPLICATED = SUMS.replace('events.require(v="v >= 0")', 'events.require(v="v >= 0").deduplicate("id")')
BINDING = Binding(sinks={"sums": "parquet", "late": "json", "rejected": "json"}, files_per_batch=None)
FED = [
    [event("a", 1, v=2.0), event("b", 2, v=3.0)],
    [event("c", 65, client="z"), event("x", 66, v=-1.0)],
    [event("d", 130), event("a", 131)],
    [event("e", 1), event("f", 200)],
    [event("g", 300)],
    [event("h", 400, client="z"), event("g", 301)],
]


def fed(job: SmallJob, *numbers: int) -> None:
    """Runs a job once for each of these groups of rows: cut so, they are batches that nobody would plan again by themselves."""
    for number in numbers:
        job.feed(FED[number])
        job.run()


def outcome(job: SmallJob) -> tuple[object, ...]:
    account = job.run().accounts[0]
    assert account.adds_up
    assert account.unknown_since is None
    rows = {name: sorted(map(str, job.rows(name))) for name in ("sums", "late", "rejected")}
    return account.input, account.account, rows


@pytest.fixture(scope="module")
def expected(spark, tmp_path_factory) -> tuple[object, ...]:
    """What comes of the events where nothing is damaged."""
    job = SmallJob(spark, tmp_path_factory.mktemp("control") / "job", DEDUPLICATED, BINDING)
    fed(job, *range(len(FED)))
    return outcome(job)


def test_a_job_that_backs_itself_up_goes_on_from_there_as_if_nothing_had_been(small_job, tmp_path, expected):
    """`[backup]` keeps the plans too: nothing of the checkpoint is needed any more."""
    job = small_job(DEDUPLICATED, replace(BINDING, tables={"backup": {"to": "../second", "every": "1 hour"}}))
    heard: list[object] = []
    job.feed(FED[0])
    job.run(listener=heard.append)
    (made,) = [event for event in heard if isinstance(event, BackedUp)]
    assert made.path.startswith(str(tmp_path / "second" / "sums"))
    fed(job, 1, 2, 3, 4)
    assert not [event for event in heard if isinstance(event, BackupFailed)]
    newest = inspect_checkpoint(job.checkpoint("sums")).logs.newest_committed
    assert newest is not None
    shutil.rmtree(job.checkpoint("sums"))

    done = restore(tmp_path / "second" / "sums", job.checkpoint("sums"))

    assert done.point.batch == made.batch
    assert done.again == tuple(range(made.batch + 1, newest + 1))
    assert "source" in (job.checkpoint("sums") / "_streamproof" / "ahead" / str(newest)).read_text()
    job.feed(FED[5])
    assert outcome(job) == expected


@pytest.mark.full
def test_a_job_whose_checkpoint_was_destroyed_goes_on_from_its_backup_as_if_nothing_had_been(small_job, tmp_path, expected):
    job, to = small_job(DEDUPLICATED, BINDING), tmp_path / "backup"
    fed(job, 0, 1)
    made = back_up(job.checkpoint("sums"), to)
    fed(job, 2, 3, 4)
    newest = inspect_checkpoint(job.checkpoint("sums")).logs.newest_committed
    assert newest is not None
    shutil.copytree(job.checkpoint("sums") / "_streamproof" / "manifests", tmp_path / "damaged" / "_streamproof" / "manifests")
    shutil.rmtree(job.checkpoint("sums"))

    done = restore(to, job.checkpoint("sums"), plans_of=tmp_path / "damaged")
    assert done.again == tuple(range(made.batch + 1, newest + 1))
    job.feed(FED[5])
    heard: list[object] = []
    result = job.run(listener=heard.append)

    again = [event.batch for event in heard if isinstance(event, BatchStaged) and event.replayed]
    assert again == list(done.again)
    (said,) = [event.text for event in heard if isinstance(event, Note) and event.code == NoteCode.AS_PLANNED]
    assert f"its batches {made.batch + 1} to {newest} are done again as they were planned" in said
    assert said in result.notes
    assert not [event for event in heard if isinstance(event, Note) and event.code == NoteCode.RESTORED]
    assert len([event for event in heard if isinstance(event, QueryStarted)]) == 2, "more would wake somebody: StreamproofRestarts"
    assert result.accounts[0].adds_up
    assert not (job.checkpoint("sums") / "_streamproof" / "ahead").exists()
    assert outcome(job) == expected
    assert sp.inspect(job.checkpoint("sums")).verify().problems == ()


def test_without_the_plans_the_job_stops_before_it_publishes_anything(small_job, tmp_path):
    job, to = small_job(DEDUPLICATED, BINDING), tmp_path / "backup"
    fed(job, 0)
    back_up(job.checkpoint("sums"), to)
    fed(job, 1, 2)
    before = job.rows("sums")
    shutil.rmtree(job.checkpoint("sums"))
    assert restore(to, job.checkpoint("sums")).again == ()

    with pytest.raises(CheckpointError) as raised:
        job.run()

    assert type(raised.value) in (FingerprintMismatch, WrongCheckpoint)
    assert "the checkpoint is an older copy" in str(raised.value)
    assert job.rows("sums") == before


@pytest.mark.full
def test_a_run_that_dies_among_these_batches_goes_on_with_the_next(small_job, tmp_path, expected, monkeypatch):
    job, to = small_job(DEDUPLICATED, BINDING), tmp_path / "backup"
    fed(job, 0)
    back_up(job.checkpoint("sums"), to)
    fed(job, 1, 2, 3, 4)
    damaged = job.checkpoint("sums").rename(tmp_path / "damaged")
    first, *_, last = restore(to, job.checkpoint("sums"), plans_of=damaged).again

    real, starts = as_planned.start_query, []

    def dies(*arguments):
        starts.append(arguments)
        if len(starts) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(as_planned, "start_query", dies)
    with pytest.raises(KeyboardInterrupt):
        job.run()
    assert inspect_checkpoint(job.checkpoint("sums")).logs.newest_committed == first + 1 < last
    job.feed(FED[5])
    assert outcome(job) == expected


@pytest.mark.full
def test_recover_takes_the_plans_of_all_batches_along(small_job, tmp_path, expected):
    job = small_job(DEDUPLICATED, BINDING)
    fed(job, 0, 1, 2, 3, 4)
    checkpoint = job.checkpoint("sums")
    newest = inspect_checkpoint(checkpoint).logs.newest_committed
    assert newest is not None
    made = recover(inspect_checkpoint(checkpoint), 1)
    assert made.as_planned == tuple(range(2, newest + 1))
    checkpoint.rename(tmp_path / "damaged")
    made.path.rename(checkpoint)

    job.feed(FED[5])
    assert outcome(job) == expected


def test_a_plain_job_is_backed_up_while_it_runs_and_goes_on_from_there(spark, tmp_path):
    folder, checkpoint, to = tmp_path / "data", tmp_path / "c", tmp_path / "to"
    folder.mkdir()

    def started(**trigger):
        rows = spark.readStream.schema("id string, at timestamp").option("maxFilesPerTrigger", 1).json(str(folder))
        kept = rows.withWatermark("at", "1 hour").dropDuplicatesWithinWatermark(["id"])
        return kept.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).trigger(**trigger).start()

    def feed(number: int) -> None:
        path = folder / f"{number:03d}.json"
        path.write_text(f'{{"id": "{number}", "at": "2026-01-01T09:00:00Z"}}\n{{"id": "0", "at": "2026-01-01T09:00:00Z"}}\n')
        os.utime(path, (1_700_000_000 + number,) * 2)

    for number in range(12):
        feed(number)
    query = started(processingTime="0 seconds")
    batches: list[int] = []
    while query.isActive and (query.lastProgress is None or query.lastProgress["batchId"] < 11):
        if query.lastProgress is not None and query.lastProgress["batchId"] > 0:
            done = back_up(checkpoint, to, keep=2)
            assert not done.behind
            batches.append(done.batch)
    query.stop()
    assert batches == sorted(batches)
    assert len(set(batches)) > 1
    shutil.rmtree(checkpoint)

    point = restore(to, checkpoint).point
    assert point.batch == batches[-1]
    feed(12)
    started(availableNow=True).awaitTermination()

    assert {row["id"] for row in sp.inspect(checkpoint).operator(0).rows()} == {str(number) for number in range(13)}
    assert sp.inspect(checkpoint).verify().problems == ()
