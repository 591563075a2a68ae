"""A checkpoint is backed up, destroyed and restored: the job does the batches since as they were planned, and nothing is lost or doubled."""

import shutil

import pytest

import streamproof as sp
from spark.small_job import SUMS, Binding, SmallJob, event
from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.core.notes import NoteCode
from streamproof.runtime.watching.events import BatchStaged, Note
from streamproof.savepoints.backup import back_up
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
    assert not [event for event in heard if isinstance(event, Note) and event.code == NoteCode.RESTORED]
    assert result.accounts[0].adds_up
    assert not (job.checkpoint("sums") / "_streamproof" / "ahead").exists()
    assert outcome(job) == expected
    assert sp.inspect(job.checkpoint("sums")).verify().problems == ()
