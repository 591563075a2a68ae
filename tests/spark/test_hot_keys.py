"""Keys with most of the rows are found by the tasks, in memory that does not grow, and said by their hash alone (S13)."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.sql import functions as F

from spark.small_job import KEPT, SUMS, WINDOWED, Binding, SmallJob, event
from streamproof.runtime.watching.events import HotKey, Note, RunEvent

SESSIONS = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(sums=events.window(sp.session("5 seconds"), by="client").aggregate(total=F.sum("v")))
"""
LATEST = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(newest=events.latest("client", order_by="v", within="1 hour"))
"""
SPREAD = {"spark.sql.shuffle.partitions": "4"}
ROWS = 20_000
"""Of a task the first 4,096 are all looked at, later ones by a sample."""


def rows(hot: int, others: int) -> Iterator[dict]:
    """Of ten rows so many of one client, the rest of many others."""
    for number in range(ROWS):
        yield event(f"e{number}", number / 1_000, 1.0, "Ann Miller" if number % 10 < hot else f"c{number % others}")


def run(job: SmallJob) -> list[RunEvent]:
    heard: list[RunEvent] = []
    job.run(listener=heard.append)
    return heard


def found(heard: list[RunEvent]) -> list[HotKey]:
    return [each for each in heard if isinstance(each, HotKey)]


@pytest.mark.parametrize(
    ("text", "binding", "operator"),
    [
        (SESSIONS, Binding(sinks={"sums": "parquet"}, spark=SPREAD), "window"),
        (LATEST, Binding(sinks={"newest": "parquet"}, spark=SPREAD), "latest"),
    ],
)
def test_a_hot_key_is_said_with_its_share_and_the_time_of_its_partition(small_job, spark, text, binding, operator):
    job = small_job(text, binding)
    job.feed(rows(hot=8, others=5_000))

    heard = run(job)

    (hot,) = found(heard)
    (key,) = spark.range(1).select(F.xxhash64(F.lit("Ann Miller"))).first()
    assert (hot.operator, hot.columns, hot.key, hot.rows) == (operator, ("client",), str(key), ROWS)
    assert hot.share == pytest.approx(0.8, abs=0.03)
    assert hot.partitions is not None
    assert hot.partitions.tasks > 1
    assert hot.partitions.slowest_ms >= hot.partitions.median_ms > 0
    assert [each.code for each in heard if isinstance(each, Note)].count("hot-key") == 1


def test_no_value_of_a_key_is_in_any_event(small_job):
    job = small_job(SESSIONS, Binding(sinks={"sums": "parquet"}, spark=SPREAD))
    job.feed(rows(hot=8, others=5_000))

    said = json.dumps([each.as_dict() for each in run(job)])

    assert "hot-key" in said
    assert "Ann Miller" not in said


def test_a_window_whose_tasks_send_one_row_for_each_key_has_no_hot_keys(small_job):
    job = small_job(SUMS, replace(WINDOWED, spark=SPREAD))
    job.feed(rows(hot=10, others=1))

    assert found(run(job)) == []


def test_rows_that_are_spread_evenly_are_not_said(small_job):
    job = small_job(SESSIONS, Binding(sinks={"sums": "parquet"}, spark=SPREAD))
    job.feed(rows(hot=0, others=5_000))
    job.feed(rows(hot=0, others=4))

    assert found(run(job)) == []


def test_a_job_without_state_has_no_hot_keys(small_job):
    job = small_job(KEPT)
    job.feed(rows(hot=10, others=1))

    assert found(run(job)) == []
