"""No permission, a full disk, two drivers: the message says where, what was found and what to do; nothing is lost, and doing it works."""

import json
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest

from full_tables import full
from spark.small_job import KEPT, assert_readable, event, recorded
from streamproof._jvm import Storage
from streamproof.core.account import Account
from streamproof.core.manifest import Manifest
from streamproof.errors import DiskFull, SinkError, StreamproofError, TwoDrivers
from streamproof.runtime.batch.deciding import Deciding
from streamproof.runtime.journal.manifests import ManifestStore


@pytest.mark.parametrize("what", ["checkpoint", *full("out")])
def test_no_permission(small_job, what):
    """A path below a regular file: nobody may write there, not even root."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    (job.folder / what).write_text("a file")

    error = job.stopped(SinkError)

    assert str(job.folder / what) in error.message
    assert "is a file, not a directory" in error.message

    (job.folder / what).unlink()
    assert job.run().account == Account(emitted=1)


@pytest.mark.parametrize(
    "step",
    ["/out/kept/_staging/.*parquet", *full("/out/rejected/_staging/", "/manifests/", "/_ledger.json$", "/offsets/", "/commits/")],
)
def test_a_full_disk_stops_cleanly_and_with_room_a_restart_finishes(small_job, step):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    job.feed([event("e2", 2)])
    with recorded(job, "full") as faults:
        faults.arm("full", "create", step, "before", 1, "enospc")
        error = job.stopped(DiskFull)
        assert faults.fired("full")
        assert "The disk is full" in error.message
        assert str(job.folder) in error.message
        assert "Make room" in error.remedy
        faults.clear("full")
        result = job.run()
    assert (job.ids(), job.ids("rejected")) == (["e1", "e2"], ["bad"])
    assert result.account == Account(emitted=2, rejected=1)


@contextmanager
def at_publish(monkeypatch: pytest.MonkeyPatch, do: Callable[[], None]) -> Any:
    """Does something else at the moment when the first batch of a run is staged and not yet decided."""
    decide, done = Deciding.decide, []

    def decided(self: Deciding, staged: Any) -> Any:
        if not done:
            done.append(True)
            do()
        return decide(self, staged)

    with monkeypatch.context() as patched:
        patched.setattr(Deciding, "decide", decided)
        yield


def test_two_drivers_the_second_finds_the_manifest_of_the_first(small_job, monkeypatch):
    """The other driver's manifest appears between this one's look and its own."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    manifests = job.checkpoint() / "_streamproof/manifests"

    create = ManifestStore.create

    def create_late(self: ManifestStore, manifest: Manifest) -> bool:
        manifests.mkdir(exist_ok=True)
        (manifests / "0").write_text(json.dumps(json.loads(manifest.to_json()) | {"id": "f" * 32}))
        return create(self, manifest)

    with monkeypatch.context() as patched:
        patched.setattr(ManifestStore, "create", create_late)
        error = job.stopped(TwoDrivers)

    assert "Another driver has written the manifest of batch 0 of kept" in error.message
    assert job.rows("kept") == []


def test_two_drivers_spark_sees_a_log_that_another_wrote_first(small_job, monkeypatch):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])

    def another() -> None:
        (job.checkpoint() / "commits").mkdir(exist_ok=True)
        (job.checkpoint() / "commits/0").write_text('v1\n{"nextBatchWatermarkMs":0}')

    with at_publish(monkeypatch, another):
        error = job.stopped(TwoDrivers)

    assert "Another driver works on this checkpoint" in error.message
    assert job.run().account == Account(emitted=1)
    assert job.ids() == ["e1"]


def test_a_second_query_on_a_checkpoint_in_use(small_job, monkeypatch):
    """It is refused; it has cleaned up what the first one staged, which stops that one too: nothing is lost, nothing doubled."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    seen: list[StreamproofError] = []

    def another() -> None:
        with pytest.raises(StreamproofError) as error:
            job.run()
        seen.append(error.value)

    with at_publish(monkeypatch, another):
        job.stopped(TwoDrivers)

    (error,) = seen
    assert_readable(error)
    assert type(error) is TwoDrivers
    assert job.run().account == Account(emitted=1)
    assert job.ids() == ["e1"]


def test_rows_taken_away_between_the_look_and_the_rename_are_not_called_published(small_job, monkeypatch):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    rename = Storage.rename

    def robbed(self: Storage, source: str, target: str) -> None:
        for path in job.out("kept").glob("_staging/*/*.parquet"):
            path.unlink()
        rename(self, source, target)

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "rename", robbed)
        job.stopped(TwoDrivers)

    assert job.rows("kept") == []
    assert job.run().account == Account(emitted=1)
    assert job.ids() == ["e1"]
