"""What Spark's own plan says of the state of a query, and the rows that reach it."""

import json
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof import _jvm

START_S = 1_767_225_600


@pytest.fixture
def events(spark, tmp_path) -> DataFrame:
    """Two users, one event a second; one file."""
    (tmp_path / "events").mkdir()
    rows = [{"id": n, "user": f"u{n % 2}", "at": START_S + n} for n in range(4)]
    (tmp_path / "events" / "a.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    read = spark.readStream.schema("id bigint, user string, at bigint").json(str(tmp_path / "events"))
    return read.withColumn("at", F.timestamp_seconds("at"))


def timed(events: DataFrame) -> DataFrame:
    return events.withWatermark("at", "5 seconds")


def paired(left: DataFrame, right: DataFrame, within: str) -> DataFrame:
    return left.alias("l").join(right.alias("r"), F.expr(within)).select("l.id")


PLANS: dict[str, tuple[Any, str, list[tuple[str, list[bool], tuple[bool, ...]]]]] = {
    "a total": (lambda e: e.groupBy().count(), "complete", [("aggregation", [], ())]),
    "a total by key": (lambda e: e.groupBy("user").count(), "update", [("aggregation", [False], ())]),
    "windows": (
        lambda e: timed(e).groupBy(F.window("at", "2 seconds"), "user").count(),
        "append",
        [("aggregation", [True, False], ())],
    ),
    "windows without a watermark": (
        lambda e: e.groupBy(F.window("at", "2 seconds")).count(),
        "update",
        [("aggregation", [False], ())],
    ),
    "sessions": (
        lambda e: timed(e).groupBy("user", F.session_window("at", "1 second")).count(),
        "append",
        [("aggregation", [False, True], ())],
    ),
    "copies": (lambda e: e.dropDuplicates(["id"]), "append", [("deduplication", [False], ())]),
    "a join": (
        lambda e: paired(timed(e), timed(e), "l.id = r.id AND l.at BETWEEN r.at AND r.at + INTERVAL 1 SECOND"),
        "append",
        [("join", [], (True, True))],
    ),
    "a join without times": (lambda e: paired(timed(e), timed(e), "l.id = r.id"), "append", [("join", [], (False, False))]),
    "two, one after the other": (
        lambda e: timed(e).dropDuplicatesWithinWatermark(["id"]).groupBy(F.window("at", "2 seconds")).count(),
        "append",
        [("aggregation", [True], ()), ("deduplication within the watermark", [False], ())],
    ),
    "none": (lambda e: e.where("id > 1"), "append", []),
}


@pytest.mark.parametrize(("plan", "mode", "expected"), PLANS.values(), ids=PLANS.keys())
def test_operators_are_read_from_the_plan_that_ran(plan, mode, expected, events, tmp_path):
    query = plan(events).writeStream.format("noop").outputMode(mode).option("checkpointLocation", str(tmp_path / "cp"))
    running = query.trigger(availableNow=True).start()
    running.awaitTermination()

    found = _jvm.operators_of_query(running)

    assert [(one.kind, [key.bounded for key in one.keys], one.sides) for one in found] == expected
    assert all(one.watermarked for one in found if one.sides == (True, True) or any(key.bounded for key in one.keys))
    assert not any(one.watermarked for one in found if one.kind == "deduplication")
    assert all(len(progress["stateOperators"]) == len(found) for progress in running.recentProgress)


REACHED = {
    "windows": (
        lambda e: timed(e).where("id <> 2").groupBy(F.window("at", "2 seconds"), "user").count(),
        [(2, 0), (2, 1), (4, 3)],
    ),
    "windows that overlap": (
        lambda e: timed(e).where("id = 1").groupBy(F.window("at", "2 seconds", "1 second")).count(),
        [(2, 1), (3, 1)],
    ),
    "sessions": (lambda e: timed(e).where("id = 1").groupBy(F.session_window("at", "3 seconds")).count(), [(4, 1)]),
    "copies": (lambda e: timed(e).where("id > 2").dropDuplicates(["id", "at"]), [(3, 3)]),
}


@pytest.mark.parametrize(("plan", "expected"), REACHED.values(), ids=REACHED.keys())
def test_the_rows_that_reach_the_state_have_the_time_that_decides_and_their_own(plan, expected, events, tmp_path):
    found = _jvm.before_state(plan(events))
    kept: list[tuple[int, int]] = []
    query = found.rows.writeStream.foreachBatch(lambda rows, _: kept.extend((row["decides"], row["own"]) for row in rows.collect()))
    query.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True).start().awaitTermination()

    assert sorted((decides // 10**6 - START_S, own // 10**6 - START_S) for decides, own in kept) == expected
    assert found.delay_ms == 5_000


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (lambda e: paired(timed(e), timed(e), "l.id = r.id"), "it joins streams"),
        (lambda e: e.groupBy("user").count(), "it has no watermark"),
        (lambda e: timed(e).where("id > 1"), "it has no stateful operator"),
        (PLANS["two, one after the other"][0], "several stateful operators"),
        (
            lambda e: timed(timed(e).select("id", F.current_timestamp().alias("at"))).dropDuplicates(["id", "at"]),
            "several watermarks",
        ),
        (lambda e: timed(e).groupBy("user").count(), "no column of event time"),
    ],
)
def test_a_plan_that_does_not_say_what_is_late_is_told_why(plan, why, events):
    with pytest.raises(_jvm.NotOne, match=why):
        _jvm.before_state(plan(events))
