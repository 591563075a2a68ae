"""A start of a job with the real-time trigger, or with another one after it: what the run before has left is read again, or told (S18)."""

import threading
from typing import Any

import pytest

from services.real_time_topics import SENT, Topics
from services.topics import received
from spark.small_job import event
from streamproof import _jvm
from streamproof.checkpoint.logs import parse_offsets
from streamproof.core.notes import NoteCode
from streamproof.errors import (
    CheckpointError,
    SinkError,
    TornCheckpoint,
    TwoDrivers,
)
from streamproof.runtime.journal import manifests
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.real_time import protocol

pytestmark = pytest.mark.service


def test_a_crash_between_commit_and_account_has_the_batch_read_again(topics, monkeypatch):
    def crash(*_: Any) -> bool:
        raise SinkError("the power went off")

    topics.send(*SENT)
    with monkeypatch.context() as patched:
        patched.setattr(manifests.ManifestStore, "create", crash)
        with pytest.raises(SinkError, match="power"):
            topics.run(5)
    assert (topics.job.checkpoint() / "commits/0").exists()
    assert topics.rejected == [], "its files are known to nobody any more"

    result = topics.run(5)

    assert set(topics.kept) == {"a", "b"}
    assert len(topics.rejected) == 2
    account = result.accounts[0]
    assert (account.input, account.account.emitted, account.account.rejected, account.adds_up) == (5, 2, 2, True)
    assert [note.code for note in result.notes].count(NoteCode.BATCH_TAKEN_BACK) == 1


def test_a_run_that_dies_in_the_middle_of_a_batch_reads_it_again(topics):
    topics.send(*SENT)
    end = threading.Event()

    def stop_once_written() -> None:
        while not received(topics.servers, topics.written):
            end.wait(0.2)
        end.set()

    waiting = threading.Thread(target=stop_once_written)
    waiting.start()
    topics.bind(trigger="real-time 10 minutes")
    stopped = topics.job.run(end=end)
    waiting.join()
    assert stopped.rows_in == 0, "its only batch was not over"
    topics.bind(trigger="real-time 1 second")

    result = topics.run(5)

    assert any(note.code == NoteCode.UNDER_WAY and "twice" in note for note in stopped.notes)
    assert set(topics.kept) == {"a", "b"}
    assert (result.accounts[0].input, result.accounts[0].adds_up, len(topics.rejected)) == (5, True, 2)


@pytest.mark.full
def test_a_batch_that_another_trigger_has_left_is_ended_by_it_first(topics):
    topics.send(*SENT)
    topics.bind(trigger="available-now")
    topics.job.run()
    topics.job.lose("commits/0")
    topics.bind(trigger="real-time 1 second")

    refused = topics.job.stopped(CheckpointError)

    assert "another trigger than real-time has planned it" in str(refused)
    assert _jvm.Storage(topics.job.spark).exists(f"{topics.job.checkpoint()}/offsets/0"), "nothing is changed"


def without_account(topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that dies once Spark has committed its first batch, and before anybody has accounted for it."""
    end = threading.Event()

    def look(*_: Any) -> None:
        if (topics.job.checkpoint() / "commits/0").exists():
            end.set()

    with monkeypatch.context() as patched:
        patched.setattr(protocol.RealTimeProtocol, "look_for_commit", look)
        topics.job.run(end=end)
    assert not list((topics.job.checkpoint() / "_streamproof/manifests").glob("[0-9]*"))


@pytest.mark.full
def test_another_trigger_reads_again_what_was_not_accounted_for(topics, monkeypatch):
    topics.send(*SENT)
    without_account(topics, monkeypatch)
    topics.bind(trigger="available-now")

    result = topics.job.run()

    assert set(topics.kept) == {"a", "b"}
    account = result.accounts[0]
    assert (account.input, account.account.rejected, account.adds_up, len(topics.rejected)) == (5, 2, True, 2)
    assert [note.code for note in result.notes].count(NoteCode.BATCH_TAKEN_BACK) == 1
    assert not (topics.job.checkpoint() / "_streamproof/real-time").exists(), "from now on its batches are planned"


@pytest.mark.full
def test_an_interval_that_is_exactly_once_goes_on_and_sends_only_what_is_new(topics):
    topics.send(*SENT)
    topics.run(5)
    before = topics.kept
    del topics.job.binding.tables["sink.kept"]["guarantee"]
    topics.bind(trigger="available-now")
    topics.send(event("c", 4), event("worse", 5, v=-2))

    result = topics.job.run()

    assert topics.kept == sorted([*before, "c"])
    account = result.accounts[0]
    assert (account.input, account.account.emitted, account.adds_up, len(topics.rejected)) == (7, 3, True, 3)


@pytest.mark.full
def test_the_newest_batch_cannot_be_computed_again(topics):
    topics.bind(trigger="real-time 5 seconds")  # long enough that the run ends before an empty batch is over
    topics.send(*SENT)
    topics.run(5)
    there = {path.name for path in topics.job.checkpoint().glob("*/*")}

    by_the_trigger = topics.job.stopped(CheckpointError, replay_last=True)
    topics.bind(trigger="available-now")
    by_another = topics.job.stopped(CheckpointError, replay_last=True)

    assert {path.name for path in topics.job.checkpoint().glob("*/*")} == there, "nothing is taken back"
    topics.job.run()
    later = topics.job.stopped(CheckpointError, replay_last=True)
    for refused in (by_the_trigger, by_another, later):
        assert "was done by the real-time trigger, and cannot be computed again by --replay-last" in str(refused)


@pytest.mark.full
def test_what_another_driver_has_written_into_the_logs_is_read_again(topics):
    topics.send(*SENT)
    topics.run(5)
    topics.send(event("c", 4), event("worse", 5, v=-2))
    accounted = max(int(path.name) for path in (topics.job.checkpoint() / "_streamproof/manifests").glob("[0-9]*"))
    newest = topics.job.checkpoint() / f"offsets/{accounted}"
    of_other = newest.read_text().replace('"0":5', '"0":7')
    assert of_other != newest.read_text()
    newest.write_text(of_other)

    result = topics.run(2)

    assert set(topics.kept) == {"a", "b", "c"}
    assert (result.accounts[0].input, result.accounts[0].adds_up, len(topics.rejected)) == (7, True, 3)
    assert any(note.code == NoteCode.RESTORED and "was not what is accounted for" in note for note in result.notes)


@pytest.mark.full
def test_a_driver_whose_batch_another_has_logged_stops_before_it_accounts_for_it(topics, monkeypatch):
    topics.send(*SENT)
    offsets = QueryLogs.offsets

    def of_another(logs: QueryLogs, batch: int) -> Any:
        text, _ = offsets(logs, batch)
        changed = text.replace('"0":5', '"0":7')
        return changed, parse_offsets(changed)

    with monkeypatch.context() as patched:
        patched.setattr(QueryLogs, "offsets", of_another)
        with pytest.raises(TwoDrivers, match=r"offsets/\d+ is not what this one has read"):
            topics.run(5)

    result = topics.run(5)

    assert (set(topics.kept), len(topics.rejected)) == ({"a", "b"}, 2)
    assert (result.accounts[0].input, result.accounts[0].adds_up) == (5, True)


@pytest.mark.full
def test_logs_that_spark_has_cleared_are_made_again(topics):
    topics.send(*SENT)
    topics.run(5)
    for log in ("offsets", "commits"):
        for path in (topics.job.checkpoint() / log).iterdir():
            path.unlink()
    topics.send(event("c", 4))

    result = topics.run(1)

    assert set(topics.kept) == {"a", "b", "c"}
    assert (result.accounts[0].input, result.accounts[0].adds_up) == (6, True)


@pytest.mark.full
def test_it_goes_on_where_another_trigger_has_ended(topics):
    topics.send(*SENT)
    topics.bind(trigger="available-now")
    topics.job.run()
    for commit in (topics.job.checkpoint() / "commits").glob("[0-9]*"):
        commit.write_text('v1\n{"nextBatchWatermarkMs":0}')  # as Spark before 4.3 has written it
    topics.send(event("c", 4), event("worse", 5, v=-2))
    topics.bind(trigger="real-time 1 second")

    result = topics.run(2)

    assert topics.kept == ["a", "b", "c"]
    assert (result.accounts[0].input, result.accounts[0].adds_up, len(topics.rejected)) == (7, True, 3)


@pytest.mark.full
def test_a_torn_manifest_stops_every_start_and_nothing_is_taken_back(topics):
    topics.send(*SENT)
    topics.run(5)
    newest = max((topics.job.checkpoint() / "_streamproof/manifests").glob("[0-9]*"), key=lambda path: int(path.name))
    newest.write_text(newest.read_text()[:100])
    there = {path.name for path in topics.job.checkpoint().glob("*/*")}

    by_the_trigger = topics.job.stopped(TornCheckpoint)
    topics.bind(trigger="available-now")
    by_another = topics.job.stopped(TornCheckpoint)

    assert "says how far the records of the topic are accounted for" in str(by_the_trigger)
    assert str(by_another) == str(by_the_trigger)
    assert {path.name for path in topics.job.checkpoint().glob("*/*")} == there
