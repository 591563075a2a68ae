"""A topic and a folder in one stream: each has its own watermark, and a crash leaves each record of both in one place (R13)."""

from collections.abc import Callable

import pytest

from services.topics import made, sent
from spark.small_job import Binding, SmallJob, event
from spark.test_union import OTHERS, TUMBLING, UNION, feed, watermarks
from streamproof.config import load
from streamproof.lab import KafkaCluster
from streamproof.replay.bounded.run import run_bounded

pytestmark = pytest.mark.service


@pytest.fixture
def topic(kafka: KafkaCluster) -> str:
    return made(kafka.url)


@pytest.fixture
def job(small_job: Callable[..., SmallJob], kafka: KafkaCluster, topic: str) -> SmallJob:
    """Sums over the events of a topic and of a folder, which goes idle at once."""
    others = {**OTHERS, "event_time": {**OTHERS["event_time"], "idle_after": "0 seconds"}}
    of_topic = {"connector": "kafka", "servers": kafka.url, "topic": topic}
    tables = {"source.events": of_topic, "source.others": others}
    return small_job(
        UNION.format(chain=TUMBLING), Binding(sinks=dict.fromkeys(("sums", "late", "rejected"), "json"), tables=tables)
    )


@pytest.mark.full
def test_r13_the_least_of_a_topic_and_a_folder_counts_until_the_folder_is_idle(job, kafka, topic, spark):
    sent(kafka.url, topic, [event("e1", 100), event("bad", 102, v=-1), event("x1", 101, client="x")], partition=0)
    sent(kafka.url, topic, [event("e2", 70)], partition=1)  # the partition that lags loses nothing
    feed(job, event("o1", 60))
    job.run()
    sent(kafka.url, topic, [event("e3", 300)], partition=0)
    job.run()
    sent(kafka.url, topic, [event("e4", 400), event("late", 29)], partition=1)

    result = job.run()

    # 100 - 10 and 60 - 20; then the folder delivers nothing, and what the topic has reached counts: 100 - 10, 300 - 10, 400 - 10
    assert sorted({mark for mark in watermarks(job) if mark}) == [40, 90, 290, 390]
    assert job.ids("late") == ["late"]
    account = result.accounts[0]
    assert (account.input, account.adds_up) == (8, True)
    assert (account.account.rejected, account.account.filtered, account.account.late) == (1, 1, 1)
    assert sum(row["n"] for row in job.rows("sums")) == account.account.emitted
    batch = run_bounded(load(job.folder), spark=spark).accounts[0]
    assert (batch.input, batch.account.emitted, batch.account.rejected, batch.adds_up) == (8, 6, 1, True)


@pytest.mark.full
def test_r2_a_batch_of_both_is_done_again_as_it_was_where_its_commit_is_lost(job, kafka, topic):
    job.binding.tables["source.others"]["event_time"].pop("idle_after")
    job.write()
    sent(kafka.url, topic, [event("e1", 100)])
    feed(job, event("o1", 90, client="x"))  # it is filtered: the watermark stays where it is, and no batch without data follows
    job.run()
    job.lose("commits/0", query="sums")
    before = job.manifest(0, "sums")
    sent(kafka.url, topic, [event("e2", 200)])
    feed(job, event("o2", 210))

    result = job.run()

    again = job.manifest(0, "sums")
    assert (again.counts["input"], again.fingerprint) == (2, before.fingerprint), "what came since then is of the next batch"
    account = result.accounts[0]
    assert (account.input, account.account.filtered, account.account.late, account.adds_up) == (4, 1, 0, True)
