"""Sessions whose gap is that of a column: what Spark merges, what is rejected before, what is late, what a checkpoint is bound to."""

import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import streamproof as sp
from spark.small_job import START, Binding, event, instant
from spark.test_windows import Pass
from streamproof.config import load
from streamproof.core.account import Account
from streamproof.core.clock import to_micros
from streamproof.errors import JobDefinitionError, PlanChanged
from streamproof.prove.oracle.open_windows import Windows
from streamproof.prove.oracle.rows import Row
from streamproof.prove.oracle.windows import PlainGap
from streamproof.prove.oracle.windows.written import plain_window
from streamproof.replay.bounded.run import run_bounded
from streamproof.stream.windows import Window
from streamproof.stream.windows.gap import Gap

SECOND = 1_000_000
JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    sums = events.window(sp.session(sp.gap_of("v", at_most="1 minute")), by="client").aggregate(n=F.count("*"), ids=F.sort_array(F.collect_list("id")))
    return sp.Outputs(sums=sums, late=sums.late, rejected=sums.rejected)
"""
BOUND = Binding(sinks={"sums": "parquet", "late": "json", "rejected": "json"})
ONCE = JOB.replace("events.window", 'events.deduplicate("id").window')


def shown(rows: list[dict[str, Any]]) -> list[tuple[float, float, tuple[str, ...]]]:
    """Of each session its bounds, in seconds after nine, and the events in it."""
    return sorted(
        (*[(row[name] - instant(0)).total_seconds() for name in ("window_start", "window_end")], tuple(row["ids"])) for row in rows
    )


def said(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {row["id"]: row["reason"] for row in rows}


@pytest.mark.parametrize(
    "window",
    [sp.session(sp.gap_of("own", at_most="30 seconds")), sp.session(sp.gap_of("own", at_most="30 seconds"), longest="40 seconds")],
    ids=str,
)
def test_spark_and_the_twin_merge_alike_whatever_comes_first(spark: SparkSession, window: Window) -> None:
    chance = random.Random(7)
    # Whole seconds within a minute: many gaps end where another event is.
    events = [
        (chance.randrange(150), to_micros(START) + chance.randrange(60) * SECOND, chance.choice((1, 2, 3, 5, 10, 30)))
        for _ in range(1_200)
    ]
    columns = list(zip(*events, strict=True))
    table = pa.table({"id": columns[0], "us": columns[1], "own": columns[2]})
    rows = spark.createDataFrame(table).withColumn("ts", F.timestamp_micros("us"))
    grouped = window.grouped(window.placed(rows, "ts"), "ts", ("id",)).agg(F.count("*").alias("n"))
    found = {tuple(row) for row in grouped.select("id", F.unix_micros(window.start), F.unix_micros(window.end), "n").collect()}

    twin = Windows(plain_window(window), ("id",))
    for number, (key, at, own) in enumerate(events):
        twin.add(twin.pairs([Row((f"e-{number}",), at, {"id": key, "own": own})]))

    expected = {(key[0][0], key[1], contents.end_us, contents.count) for key, contents in twin.frozen().items()}
    assert found == expected
    assert 150 < len(expected) < 1_200


def test_a_column_says_the_same_gap_to_spark_and_to_the_twin_in_every_type(spark: SparkSession) -> None:
    gap = Gap("own", sp.gap_of("own", at_most="2 hours").at_most)
    twin = PlainGap("own", 7_200 * SECOND)
    numbers = ["0", "-3", "1", "7200", "7201", "null"]
    written = {
        "tinyint": ["0", "-3", "1", "null"],
        "int": numbers,
        "bigint": [*numbers, "9223372036854775807"],
        "float": [*numbers, "0.1", "'nan'", "'inf'", "'-inf'"],
        "double": [*numbers, "0.1", "1e-7", "1e-6", "7200.0000001", "1e300", "'nan'", "'inf'", "'-inf'"],
        "decimal(20,7)": [*numbers, "0.0000001", "0.0000005", "7200.0000001"],
        "interval day to second": ["null", "interval '0' second", "interval '-1' minute", "interval '1:30.5' minute to second"],
        "interval hour": ["interval '2' hour", "interval '3' hour"],
    }
    for type_, values in written.items():
        texts = ", ".join(f"(cast({value} as {type_}))" for value in values)
        rows = spark.sql(f"select own from values {texts} as t(own)")
        found = rows.select("own", gap.refused(rows).alias("refused"), gap.micros(rows).alias("us")).collect()
        assert len(found) == len(values)
        for row in found:
            assert twin.judged(row["own"]) == (row["us"] if row["refused"] is None else row["refused"]), (type_, row)


def test_each_event_holds_its_session_open_for_its_own_gap_and_the_account_adds_up(small_job) -> None:
    job = small_job(JOB, BOUND)
    job.feed([event("a", 0, 30.0), event("b", 30, 2.0), event("c", 33, 1.0), event("x", 40, 0.0), event("y", 41, None)])
    first = job.run()
    assert first.account == Account(open_state=3, rejected=2)
    # d comes out of order, and its gap reaches over b and c; the bound is 23, and e is late by its own time though its gap is not over.
    job.feed([event("d", 31, 10.0), event("e", 21, 60.0), event("z", 50, 60.5), event("w", 51, -1.0)])
    job.feed([event("f", 200, 5.0)])

    result = job.run()

    assert result.accounts[0].adds_up
    assert (result.account.late, result.account.rejected) == (1, 4)
    assert shown(job.rows("sums")) == [(0.0, 41.0, ("a", "b", "c", "d"))]
    assert said(job.rows("rejected")) == {
        "x": "session gap v (is not above zero)",
        "y": "session gap v (is null)",
        "z": "session gap v (is above 1 minute)",
        "w": "session gap v (is not above zero)",
    }


def test_an_event_is_late_by_its_own_time_so_that_no_two_sessions_of_a_key_begin_at_one_instant(small_job) -> None:
    job = small_job(JOB, BOUND)
    job.feed([event("a", 0, 5.0)])
    job.feed([event("b", 100, 5.0)])  # the watermark goes to 90: a is written
    job.run()
    job.feed([event("again", 0, 60.0), event("at", 90, 60.0), event("above", 90.001, 1.0), event("c", 100, 5.0)])
    job.feed([event("d", 300, 5.0)])

    result = job.run()

    assert result.accounts[0].adds_up
    assert said(job.rows("late")).keys() == {"again", "at"}
    assert shown(job.rows("sums")) == [
        (0.0, 5.0, ("a",)),
        (90.001, 91.001, ("above",)),
        (100.0, 105.0, ("b", "c")),
    ]


def test_behind_a_deduplication_an_event_without_a_gap_is_rejected_before_its_key_is_remembered(small_job) -> None:
    job = small_job(ONCE, BOUND)
    job.feed([event("a", 0, 0.0), event("a", 0, 5.0), event("a", 0, 5.0)])

    result = job.run()

    assert result.account == Account(open_state=1, rejected=1, duplicate=1)


def test_r25_another_column_or_bound_of_the_gap_is_another_state(small_job) -> None:
    job = small_job(JOB, replace(BOUND, schema="id string, client string, v double, w double, ts long"))
    job.feed([{**event("a", 1, 5.0), "w": 5.0}])
    job.run()
    for change, what in (
        (('"v"', '"w"'), "session gap of w at most 1 minute now, session gap of v at most 1 minute before"),
        (("1 minute", "2 minutes"), "session gap of v at most 2 minutes now"),
        (('sp.gap_of("v", at_most="1 minute")', '"1 minute"'), "session 1 minute now, session gap of v at most 1 minute before"),
    ):
        job.text = JOB.replace(*change)
        job.write()
        job.feed([{**event("b", 2, 5.0), "w": 5.0}])
        assert what in job.stopped(PlanChanged).message


@pytest.mark.full
def test_as_a_batch_the_same_events_are_rejected_and_the_same_sessions_come_out(small_job, spark: SparkSession) -> None:
    job = small_job(JOB, BOUND)
    job.feed([event("a", 0, 30.0), event("x", 1, 0.0), event("b", 30, 2.0)])
    job.feed([event("c", 33, 1.0)])

    result = run_bounded(load(job.folder), spark=spark)

    assert result.account == Account(emitted=3, rejected=1)
    rows = [
        row for file in (job.folder / "checkpoint-bounded" / "sums").glob("*.parquet") for row in pq.read_table(file).to_pylist()
    ]
    assert shown(rows) == [(0.0, 32.0, ("a", "b")), (33.0, 34.0, ("c",))]


@pytest.mark.full
def test_an_interval_is_a_gap_also_in_a_late_row(small_job) -> None:
    made = 'events.transform(lambda rows: rows.withColumn("own", F.make_dt_interval(secs=F.col("v").cast("decimal(18,6)")))).window'
    job = small_job(JOB.replace("events.window", made).replace('gap_of("v"', 'gap_of("own"'), BOUND)
    job.feed([event("a", 0, 30.0), event("b", 30, 2.0), event("x", 3, None)])
    job.feed([event("c", 200, 2.0)])
    job.feed([event("d", 1, 2.0)])

    result = job.run()

    assert result.account == Account(emitted=2, open_state=1, late=1, rejected=1)
    assert shown(job.rows("sums")) == [(0.0, 32.0, ("a", "b"))]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('gap_of("v"', 'gap_of("vv"'), 'needs the column "vv", which is not there. Did you mean "v"?'),
        (('gap_of("v"', 'gap_of("client"'), 'the column "client" is string.'),
        (('gap_of("v"', 'gap_of("ts"'), 'the column "ts" is timestamp.'),
    ],
    ids=["missing", "text", "instant"],
)
def test_a_column_that_is_no_gap_is_refused_before_anything_runs(small_job, change, words) -> None:
    job = small_job(JOB.replace(*change), BOUND)
    job.feed([event("a", 1)])

    assert words in job.stopped(JobDefinitionError).message


def test_the_door_holds_an_event_by_its_own_time(spark: SparkSession) -> None:
    window = sp.session(sp.gap_of("own", at_most="1 minute"))
    rows = spark.sql("select timestamp_seconds(7) as ts, 5 as own")

    assert window.divert(rows, "ts", Pass()).collect()[0]["decides"] == 7 * SECOND
