"""The real-time trigger on a real broker: rows go out while their batch runs, and every record is in one place once it is over (S18)."""

import json
from typing import Any

import pytest

from services.real_time_topics import JOB, SENT, Topics
from services.topics import made, received, sent
from spark.small_job import SCHEMA, START, event
from streamproof.errors import (
    ConfigurationError,
    EnvironmentProblem,
    JobDefinitionError,
    StreamproofError,
)
from streamproof.runtime.real_time import protocol
from streamproof.runtime.watching.events import BatchCommitted, RunEvent

pytestmark = pytest.mark.service


def test_every_record_is_in_one_place_and_what_comes_later_is_read_by_the_next_run(topics, monkeypatch):
    plans, executions = list[dict[str, int]](), set[str]()
    monkeypatch.setattr(protocol._jvm, "check_doors", plans.append)
    follow = protocol.RealTimeProtocol.follow

    def followed(mine: protocol.RealTimeProtocol, stream: Any) -> None:
        executions.add(stream._jsq.streamingQuery().getClass().getSimpleName())
        follow(mine, stream)

    monkeypatch.setattr(protocol.RealTimeProtocol, "follow", followed)
    topics.send(*SENT)
    heard = list[RunEvent]()

    first = topics.run(5, listener=heard.append, latency=True)
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
    for each in (each for each in heard if isinstance(each, BatchCommitted)):
        assert list(each.phases_ms) == ["plan", "work", "stage", "publish", "commit"]
        assert each.phases_ms["work"] <= each.total_ms
        assert each.latency == (), "asked for, as --metrics does, and not measured: it stops nothing"
        assert {(lag.source, lag.topic, lag.partition) for lag in each.lag} == {
            ("events", topics.read, number) for number in range(2)
        }
    assert executions == {"MicroBatchExecution"}, "the one with asynchronous progress tracking writes its logs later"


def test_r5_a_door_that_a_plan_has_twice_stops_the_run_before_the_account(topics, monkeypatch):
    monkeypatch.setattr(protocol._jvm, "doors_of", lambda *_: {"door:rejected.0": 2})
    topics.send(*SENT)

    with pytest.raises(StreamproofError, match="occurs 2 times"):
        topics.run(5)

    assert topics.rejected == []


@pytest.mark.usefixtures("short_batches")
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


@pytest.mark.full
def test_batches_without_records_are_accounted_for_too(topics):
    ended = list[int]()

    def listen(happened: RunEvent) -> None:
        if isinstance(happened, BatchCommitted):
            ended.append(happened.counts["input"])
            if len(ended) == 2:
                topics.send(*SENT)

    result = topics.run(5, listener=listen)

    assert ended[:2] == [0, 0]
    assert (result.rows_in, result.accounts[0].adds_up, set(topics.kept)) == (5, True, {"a", "b"})


def test_a_topic_that_is_not_there_is_named(topics):
    topics.job.binding.tables["sink.kept"]["topic"] = "nobody-has-made-it"
    topics.job.write()

    refused = topics.job.stopped(ConfigurationError)

    assert "[sink.kept] topic is nobody-has-made-it, and there is no such topic" in str(refused)


@pytest.mark.full
@pytest.mark.usefixtures("short_batches")
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
