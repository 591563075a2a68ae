"""The real-time trigger on a real broker: rows go out while their batch runs, and every record is in one place once it is over (S18)."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from services.topics import made, received, sent
from spark.small_job import SCHEMA, START, Binding, SmallJob, event
from streamproof import _jvm
from streamproof.checkpoint.logs import parse_offsets
from streamproof.config import models
from streamproof.core.notes import NoteCode
from streamproof.errors import (
    CheckpointError,
    ConfigurationError,
    EnvironmentProblem,
    JobDefinitionError,
    SinkError,
    StreamproofError,
    TwoDrivers,
)
from streamproof.lab import KafkaCluster
from streamproof.runtime import manifests
from streamproof.runtime.events import BatchCommitted, RunEvent
from streamproof.runtime.logs import QueryLogs
from streamproof.runtime.real_time import protocol
from streamproof.runtime.result import RunResult

pytestmark = [pytest.mark.service, pytest.mark.spark, pytest.mark.beside]

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0").filter("client != 'x'", name="test clients")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""
SENT = [event("a", 0), event("bad", 1, v=-1), event("x", 2, client="x"), b"no JSON", event("b", 3)]


class Topics:
    """A job from one topic to another."""

    def __init__(self, kafka: KafkaCluster, small_job: Callable[..., SmallJob], *, partitions: int = 2, **rejected: str) -> None:
        self.servers, self.read, self.written = kafka.url, made(kafka.url, partitions=partitions), made(kafka.url)
        at = {"connector": "kafka", "servers": kafka.url}
        tables: dict[str, dict[str, Any]] = {
            "source.events": {**at, "topic": self.read},
            "sink.kept": {**at, "topic": self.written, "guarantee": "at-least-once", "key": "client"},
        }
        if rejected:
            tables["sink.rejected"] = {**at, **rejected}
        sinks = {} if rejected else {"rejected": "json"}
        short = {"spark.sql.streaming.realTimeMode.minBatchDuration": "1000"}
        self.job = small_job(JOB, Binding(sinks=sinks, tables=tables, trigger="real-time 1 second", spark=short))

    def send(self, *values: Any) -> None:
        sent(self.servers, self.read, values)

    def bind(self, **changes: Any) -> None:
        """Changes what streamproof.toml says."""
        self.job.binding = Binding(**{**vars(self.job.binding), **changes})
        self.job.write()

    def run(self, records: int, **options: Any) -> RunResult:
        """Runs until batches that are accounted for have read so many records."""
        end, read = threading.Event(), Counter[str]()

        def listen(happened: RunEvent) -> None:
            if isinstance(happened, BatchCommitted):
                read.update(happened.counts)
                if read["input"] >= records:
                    end.set()

        return self.job.run(end=end, listener=listen, **options)

    @property
    def kept(self) -> list[str]:
        """The ids in the topic that it writes, copies too."""
        return sorted(json.loads(message.value())["id"] for message in received(self.servers, self.written))

    @property
    def rejected(self) -> list[str]:
        return sorted(str(row["reason"]) for row in self.job.rows("rejected"))


@pytest.fixture(autouse=True)
def _short_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a second, so that a test takes some: jobs may have none below five, as Spark has it."""
    monkeypatch.setattr(models, "_SHORTEST_REAL_TIME_BATCH", timedelta(seconds=1))


@pytest.fixture
def topics(kafka: KafkaCluster, small_job: Callable[..., SmallJob]) -> Topics:
    return Topics(kafka, small_job)


def test_every_record_is_in_one_place_and_what_comes_later_is_read_by_the_next_run(topics, monkeypatch):
    plans: list[dict[str, int]] = []
    monkeypatch.setattr(protocol._jvm, "check_doors", plans.append)
    topics.send(*SENT)

    first = topics.run(5)
    topics.send(event("c", 4), event("worse", 5, v=-2))
    result = topics.run(2)

    assert set(topics.kept) == {"a", "b", "c"}, "a stop can double what its last batch has sent, and loses nothing"
    assert len(topics.rejected) == 3
    assert {message.key() for message in received(topics.servers, topics.written)} == {b"a"}
    account = first.accounts[0]
    assert (account.input, account.account.emitted, account.account.rejected, account.account.filtered) == (5, 2, 2, 1)
    assert account.adds_up
    account = result.accounts[0]
    assert (account.input, account.account.emitted, account.account.rejected, account.adds_up) == (7, 3, 3, True)
    assert [output.guarantee.partition(" (")[0] for output in result.outputs if output.name == "kept"] == ["at least once"]
    assert all(
        {key: counts[key] for key in ("door:rejected.0", "door:rejected.1", "door:tally:kept")}
        == {"door:rejected.0": 1, "door:rejected.1": 1, "door:tally:kept": 1}
        for counts in plans
    )
    assert len(plans) == 2


def test_r5_a_door_that_a_plan_has_twice_stops_the_run_before_the_account(topics, monkeypatch):
    monkeypatch.setattr(protocol._jvm, "doors_of", lambda *_: {"door:rejected.0": 2})
    topics.send(*SENT)

    with pytest.raises(StreamproofError, match="occurs 2 times"):
        topics.run(5)

    assert topics.rejected == []


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


def test_rejected_rows_can_go_to_a_topic_too(kafka, small_job):
    rejected = made(kafka.url)
    topics = Topics(kafka, small_job, partitions=1, topic=rejected, guarantee="at-least-once")
    topics.send(*SENT)

    topics.run(5)

    reasons = sorted(json.loads(row.value())["reason"] for row in received(kafka.url, rejected))
    assert reasons == ["not parseable", "v >= 0"], reasons


def test_the_future_is_told_by_the_clock_of_the_machine(topics):
    at = 'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds", max_future = "1 day" }'
    topics.bind(event_time=at)
    far = event("far", 0)
    far["ts"] = int(START.replace(year=2090).timestamp() * 1000)
    topics.send(event("a", 0), far)

    topics.run(2)

    assert (topics.kept, topics.rejected) == (["a"], ["event time more than 1 day in the future"])


def test_a_batch_that_another_trigger_has_left_is_ended_by_it_first(topics):
    topics.send(*SENT)
    topics.bind(trigger="available-now")
    topics.job.run()
    topics.job.lose("commits/0")
    topics.bind(trigger="real-time 1 second")

    refused = topics.job.stopped(CheckpointError)

    assert "another trigger than real-time has planned it" in str(refused)
    assert _jvm.Storage(topics.job.spark).exists(f"{topics.job.checkpoint()}/offsets/0"), "nothing is changed"


def test_a_partition_without_a_core_stops_the_run_before_it_begins(kafka, topics, small_job):
    many = made(kafka.url, partitions=30)
    topics.job.binding.tables["source.events"]["topic"] = many
    topics.job.write()

    refused = topics.job.stopped(EnvironmentProblem)

    assert "30 partitions are to be read at the same time (events 30)" in str(refused)
    assert not topics.job.checkpoint().exists()


def test_a_python_function_over_batches_of_rows_is_refused_in_our_words(topics):
    topics.job.text = JOB.replace(
        "    checked = events",
        "    events = events.transform(lambda rows: rows.mapInPandas(lambda parts: parts, rows.schema))\n    checked = events",
    )
    topics.job.write()
    topics.send(*SENT)

    refused = topics.job.stopped(JobDefinitionError)

    assert "the job has MapInPandas in its plan" in str(refused)


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


def test_the_newest_batch_cannot_be_computed_again(topics):
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
    assert any(note.code == NoteCode.RESTORED and "is not what is accounted for" in note for note in result.notes)


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


def test_batches_without_records_are_accounted_for_too(topics):
    ended, end = list[int](), threading.Event()

    def listen(happened: RunEvent) -> None:
        if isinstance(happened, BatchCommitted):
            ended.append(happened.counts["input"])
            if len(ended) == 2:
                topics.send(*SENT)
            if sum(ended) == 5:
                end.set()

    result = topics.job.run(end=end, listener=listen)

    assert ended[:2] == [0, 0]
    assert (result.rows_in, result.accounts[0].adds_up, set(topics.kept)) == (5, True, {"a", "b"})


def test_a_topic_that_is_not_there_is_named(topics):
    topics.job.binding.tables["sink.kept"]["topic"] = "nobody-has-made-it"
    topics.job.write()

    refused = topics.job.stopped(ConfigurationError)

    assert "[sink.kept] topic is nobody-has-made-it, and there is no such topic" in str(refused)


def test_two_topics_come_together(kafka, small_job):
    topics, other = Topics(kafka, small_job, partitions=1), made(kafka.url, partitions=1)
    others = {**topics.job.binding.tables["source.events"], "topic": other, "format": "json", "schema": SCHEMA}
    topics.job.text = """
@sp.job
def small(events: sp.Stream, others: sp.Stream) -> sp.Outputs:
    checked = events.union(others).require(v="v >= 0")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""
    topics.bind(tables={**topics.job.binding.tables, "source.others": others}, event_time="")
    topics.send(*SENT)
    sent(kafka.url, other, [event("d", 7), event("worse", 8, v=-3)])

    result = topics.run(7)

    assert set(topics.kept) == {"a", "b", "d", "x"}
    assert (result.accounts[0].adds_up, len(topics.rejected)) == (True, 3)


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
