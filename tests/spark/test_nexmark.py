"""Nexmark: of each query the job of ours, the hand-written one and the model give the same rows, of events that come out of order, some of them late."""

from dataclasses import replace
from datetime import timedelta

import pytest
from benchmarks.nexmark.comparing import compared, differences
from benchmarks.nexmark.generator import SHARES, Input, Sample, written
from benchmarks.nexmark.queries import QUERIES
from benchmarks.nexmark.twins import TWINS
from pyspark.sql import functions as F

from full_tables import full

ALWAYS = ("q2", "q5")
"""A filter, a window behind a window: in every run. The full tables have all."""
BATCHES = 3
SAMPLE = Sample(events=9_000, events_per_second=100, out_of_order=7_001)
"""Seventy seconds come out of order: what of them comes in the third batch is behind the watermark that the first has made."""
OF_DAYS = {"q15", "q16", "q17"}
"""Their windows are still open then."""
WITH_LATE_ONES = {name for name, query in QUERIES.items() if query.timed} - OF_DAYS


@pytest.fixture(scope="module")
def source(spark, tmp_path_factory) -> Input:
    found = written(spark, tmp_path_factory.mktemp("nexmark"), SAMPLE, batches=BATCHES, files_per_batch=1)
    return replace(found, partitions=1)


@pytest.mark.parametrize("name", [*ALWAYS, *full(*(name for name in QUERIES if name not in ALWAYS))])
def test_both_sides_of_a_query_give_the_same_rows(spark, source, name):
    found = compared(spark, source, QUERIES[name])

    assert found.differences == ()
    assert found.unlike_model == (() if name in TWINS else None)
    assert found.rows > 0
    assert (found.account["late"] > 0) == (name in WITH_LATE_ONES)


def test_a_seed_gives_the_same_events_however_they_are_spread_over_tasks(spark):
    made = Sample(events=500, out_of_order=401)
    for kind in SHARES:
        one = made.of(kind, spark, 1).collect()
        assert made.of(kind, spark, 3).collect() == one
        assert replace(made, seed=8).of(kind, spark, 1).collect() != one


def test_of_fifty_events_one_is_a_person_three_are_auctions_and_the_rest_bids(spark):
    made = Sample(events=9_000)
    assert {kind: made.of(kind, spark, 1).count() for kind in SHARES} == {"persons": 180, "auctions": 540, "bids": 8_280}


def test_no_two_events_have_one_time(spark):
    made = Sample(events=20_000)
    times = [made.of(kind, spark, 2).select("dateTime") for kind in SHARES]
    assert times[0].union(times[1]).union(times[2]).distinct().count() == 20_000


def test_half_of_the_bids_are_on_hot_auctions_and_three_in_four_are_of_hot_bidders(spark):
    found = (
        Sample(events=50_000)
        .of("bids", spark, 2)
        .agg(
            F.avg((F.col("auction") % 100 == 0).cast("int")),
            F.avg((F.col("bidder") % 100 == 1).cast("int")),
            F.avg((~F.col("channel").startswith("channel-")).cast("int")),
            F.min("price"),
            F.max("price"),
            F.avg(F.length("extra")),
        )
    )
    auctions, bidders, channels, least, most, extra = found.collect()[0]

    assert 0.49 < auctions < 0.53
    assert 0.74 < bidders < 0.78
    assert 0.48 < channels < 0.52
    assert 100 <= least < 200 < 50_000_000 < most <= 100_000_000
    assert 66 < extra < 70


def test_auctions_end_and_are_of_persons_who_are_there_or_come_soon(spark):
    auctions, people = SAMPLE.of("auctions", spark, 1), SAMPLE.of("persons", spark, 1)
    newest = people.agg(F.max("id")).collect()[0][0]

    assert auctions.filter("expires <= dateTime").count() == 0
    assert auctions.filter(f"seller < 1000 OR seller > {newest + 10}").count() == 0
    assert auctions.select("category").distinct().count() == 5


def test_the_last_event_of_each_kind_is_two_days_later(spark):
    for kind in SHARES:
        newest = SAMPLE.of(kind, spark, 1).agg(F.max("dateTime")).collect()[0][0]
        (last,) = SAMPLE.last(kind, spark).collect()
        assert timedelta(days=1, hours=23) < last["dateTime"] - newest < timedelta(days=3)


def test_what_differs_is_said_of_each_side(spark):
    one = spark.createDataFrame([(1, "a"), (1, "a"), (2, "b")], "k int, v string")
    other = spark.createDataFrame([("a", 1), ("c", 3)], "v string, k int")

    assert differences(one, one.select("v", "k")) == []
    assert [said.partition(", such as ")[0] for said in differences(one, other)] == [
        "only ours has 2 rows",
        "only by hand has 1 rows",
    ]
    assert differences(one, other.withColumn("k", F.col("k").cast("bigint"))) == ["ours has {'k': 'int'}, by hand {'k': 'bigint'}"]
