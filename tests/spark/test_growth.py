"""What a job leaves behind does not grow with its batches: manifests go that no rule needs any more, and nothing is lost by it."""

import shutil

import pytest

from spark.small_job import KEPT, SUMS, WINDOWED, event
from streamproof.core.account import Account
from streamproof.errors import StoreEmptied


def manifests(job, query="kept"):
    return sorted(int(path.name) for path in (job.checkpoint(query) / "_streamproof/manifests").glob("[0-9]*"))


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch):
    monkeypatch.setattr("streamproof.runtime.journal.manifests.KEPT", 3)


def test_manifests_are_pruned_and_the_account_goes_on(small_job):
    job = small_job(KEPT)
    for batch in range(6):
        job.feed([event(f"e{batch}", batch), event(f"bad{batch}", batch, v=-1)])
    job.run()
    assert manifests(job) == [3, 4, 5]

    job.feed([event("e6", 6)])
    assert job.run().account == Account(emitted=7, rejected=6)

    assert manifests(job) == [4, 5, 6]
    job.lose("commits/6", "_streamproof/manifests/6")
    assert job.run().account == Account(emitted=7, rejected=6)


@pytest.mark.full
def test_more_than_are_removed_at_once_are_removed_batch_by_batch(small_job, monkeypatch):
    monkeypatch.setattr("streamproof.runtime.journal.manifests.KEPT", 100)
    job = small_job(KEPT)
    for batch in range(6):
        job.feed([event(f"e{batch}", batch)])
    job.run()
    assert manifests(job) == [0, 1, 2, 3, 4, 5]
    monkeypatch.setattr("streamproof.runtime.journal.manifests.KEPT", 1)
    monkeypatch.setattr("streamproof.runtime.journal.manifests._AT_ONCE", 2)
    for batch in range(2):
        job.feed([event(f"more{batch}", batch)])

    assert job.run().account == Account(emitted=8)

    assert manifests(job) == [4, 5, 6, 7]


@pytest.mark.full
def test_an_old_batch_that_is_gone_is_told_when_its_manifest_is_no_longer_kept(small_job):
    job = small_job(KEPT)
    for batch in range(6):
        job.feed([event(f"e{batch}", batch)])
    job.run()
    shutil.rmtree(job.out("kept") / "batch=000001")

    assert "batch 1 is gone" in job.stopped(StoreEmptied).message


@pytest.mark.full
def test_an_emptied_output_is_told_when_no_manifest_of_its_rows_is_kept(small_job):
    job = small_job(KEPT)
    for batch in range(6):
        job.feed([event(f"e{batch}", batch, v=1 if batch < 2 else -1)])
    job.run()
    shutil.rmtree(job.out("kept"))

    assert "has none of the 2 batches that were published there" in job.stopped(StoreEmptied).message


@pytest.mark.full
def test_windows_that_stay_open_for_longer_than_manifests_are_kept(small_job):
    job = small_job(SUMS, WINDOWED)
    for batch in range(6):
        job.feed([event(f"e{batch}", batch)])
    assert job.run().account == Account(open_state=6)

    job.feed([event("late on", 100)])

    assert job.run().account == Account(emitted=6, open_state=1)
    assert len(manifests(job, "sums")) == 3
