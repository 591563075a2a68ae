"""Patterns on real Spark, each held against a batch query in PySpark that was written by hand over the same rows."""

import random
from datetime import datetime

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F

from spark.small_job import START, Binding
from streamproof.core.clock import to_micros

AD, BUY = """sp.patterns.event("kind = 'ad'", id="string")""", """sp.patterns.event("kind = 'buy'", id="string")"""
COMING = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    fast = sp.patterns.velocity(events, "client", time="ts", at_least=3, within="1 minute", at_most=100, columns=["id"])
    slid = sp.patterns.sliding(events, "client", "v", time="ts", over="1 minute", at_most=100, columns=["id"])
    sums = sp.patterns.running(events, "client", ttl="never", columns=["id"], balance=("CAST(0 AS DECIMAL(18, 2))", "v"), n=("0L", "1"))
    turns = sp.patterns.changes(events, "client", "kind", time="ts", starts="CAST(NULL AS STRING)", ttl="1 day", columns=["id"])
    return sp.Outputs(fast=fast, slid=slid, sums=sums, turns=turns, late=fast.late, rejected=fast.rejected)
"""
WAITING = f"""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    silent = sp.patterns.inactivity(events, "client", time="ts", after="30 seconds")
    pairs = sp.patterns.sequence(events, "client", time="ts", first={AD}, then={BUY}, within="40 seconds", at_most=100)
    last = sp.patterns.attribution(events, "client", time="ts", touch={AD}, conversion={BUY}, within="40 seconds", at_most=100)
    first = sp.patterns.attribution(
        events, "client", time="ts", touch={AD}, conversion={BUY}, within="40 seconds", at_most=100, credit="first"
    )
    ordered = sp.patterns.reorder(
        events, "client", time="ts", columns={{"id": "string", "v": "decimal(9,2)"}}, number="seq", ttl="never", at_most=100
    )
    whole = sp.patterns.sliding_complete(
        events, "client", "v", time="ts", over="1 minute", at_most=100, columns={{"id": "string", "v": "decimal(9,2)"}}
    )
    return sp.Outputs(
        whole=whole, silent=silent, pairs=pairs, missing=pairs.tagged("missing"), last=last, first=first, alone=first.tagged("unattributed"),
        ordered=ordered, gaps=ordered.tagged("gaps"), late=ordered.late,
    )
"""
SCHEMA = "id string, client string, kind string, v decimal(9,2), seq long, ts long"
EVENT_TIME = 'event_time = { column = "ts", unit = "milliseconds", lag = "1 minute" }'


def binding(*outputs):
    return Binding(schema=SCHEMA, event_time=EVENT_TIME, sinks=dict.fromkeys(outputs, "parquet"))


def arrivals():
    """Five batches of rows that come up to fifty seconds after others; the last two only move the watermark."""
    drawn, rows = random.Random(41), []
    for client in "ab":
        numbers = iter(sorted(drawn.sample(range(100, 150), 40)))
        for ms in sorted(drawn.sample(range(600_000), 40)):
            kind, v = drawn.choice(("ad", "ad", "buy", "view")), drawn.choice((None, 1.25, 2.5, 5.0))
            rows.append({"id": f"{client}{ms}", "client": client, "kind": kind, "v": v, "seq": next(numbers), "ts": ms})
    rows.sort(key=lambda one: one["ts"] + drawn.randrange(50_000))
    batches = [rows[begin : begin + 27] for begin in range(0, 80, 27)]
    batches[2] = [{**rows[0], "id": "late", "ts": 1}, {**rows[1], "id": "no key", "client": None, "ts": 599_000}, *batches[2]]
    batches += [[{**rows[0], "id": f"end{number}", "client": "z", "ts": 6_000_000}] for number in range(2)]
    start = int(START.timestamp() * 1000)
    return [[{**one, "ts": start + one["ts"]} for one in batch] for batch in batches]


@pytest.fixture
def given(spark):
    """The rows that are neither late nor without a key, as a batch query has them: with the number of the batch that brought each."""
    rows = [
        (*(one[name] for name in ("id", "client", "kind", "v", "seq", "ts")), number)
        for number, batch in enumerate(arrivals())
        for one in batch
        if one["client"] in ("a", "b") and one["id"] != "late"
    ]
    frame = spark.createDataFrame(rows, "id string, client string, kind string, v double, seq long, ms long, batch int")
    return frame.withColumn("v", F.col("v").cast("decimal(9,2)")).withColumn("ts", F.timestamp_millis("ms"))


def fed(small_job, text, *outputs):
    job = small_job(text, binding(*outputs))
    for batch in arrivals():
        job.feed(batch)
    result = job.run()
    assert all(found.adds_up for found in result.accounts)
    return job


def same(job, output, frame):
    """The rows of an output are those of a batch query, and there are some."""
    times = [name for name, type_ in frame.dtypes if type_ == "timestamp"]
    expected = [tuple(row) for row in frame.withColumns({name: F.unix_micros(name) for name in times}).collect()]
    found = [tuple(_plain(row[name]) for name in frame.columns) for row in job.rows(output) if row["client"] != "z"]
    assert expected, output
    assert sorted(found, key=str) == sorted(expected, key=str), output


def _plain(value):
    return to_micros(value) if isinstance(value, datetime) else value


def test_patterns_that_give_a_row_with_each_record(small_job, given):
    job = fed(small_job, COMING, "fast", "slid", "sums", "turns", "late", "rejected")
    given = given.cache()
    came = Window.partitionBy("client").orderBy("batch", "ts")

    one, other = given.alias("one"), given.alias("other")
    before = one.join(
        other,
        F.expr(
            "one.client = other.client AND other.ts > one.ts - INTERVAL 1 MINUTE AND other.ts <= one.ts"
            " AND other.batch <= one.batch"
        ),
    ).groupBy("one.client", "one.id")
    value = F.col("other.v").cast("double")
    counted = before.agg(
        F.count("*").alias("n"),
        F.coalesce(F.sum(value), F.lit(0.0)).alias("total"),
        F.min(value).alias("least"),
        F.max(value).alias("most"),
    )
    same(job, "fast", counted.select("client", "id", "n").where("n >= 3"))
    same(job, "slid", counted)

    up_to = came.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    balance = F.coalesce(F.sum("v").over(up_to), F.lit(0)).cast("decimal(18,2)")
    same(job, "sums", given.select("client", "id", balance.alias("balance"), F.count("*").over(up_to).alias("n")))

    newest = given.withColumn("newest", F.max("ts").over(up_to)).where("ts = newest")
    turned = newest.withColumn("was", F.lag("kind").over(came)).where("NOT was <=> kind")
    same(job, "turns", turned.select("client", "id", "was", F.col("kind").alias("now")))

    assert [row["id"] for row in job.rows("late")] == ["late"]
    assert [(row["id"], row["reason"]) for row in job.rows("rejected")] == [("no key", "key client (is null)")]


@pytest.mark.full
def test_patterns_that_wait_for_the_watermark(small_job, given):
    job = fed(small_job, WAITING, "whole", "silent", "pairs", "missing", "last", "first", "alone", "ordered", "gaps", "late")
    given = given.cache()
    by_time = Window.partitionBy("client").orderBy("ts")

    same(
        job,
        "silent",
        _runs(given, by_time).groupBy("client", "run").agg(F.min("ts").alias("first_at"), F.max("ts").alias("last_at"))
        .selectExpr("client", "first_at", "last_at", "last_at + INTERVAL 30 SECONDS AS silent_at"),
    )  # fmt: skip

    micros = given.withColumn("us", F.unix_micros("ts")).withColumn("value", F.col("v").cast("double"))
    minute = Window.partitionBy("client").orderBy("us").rangeBetween(1 - 60_000_000, 0)
    sums = {
        "n": F.count("*").over(minute),
        "total": F.coalesce(F.sum("value").over(minute), F.lit(0.0)),
        "least": F.min("value").over(minute),
        "most": F.max("value").over(minute),
    }
    same(job, "whole", micros.withColumns(sums).select("client", "id", "ts", "v", *sums))

    ads = given.where("kind = 'ad'").selectExpr("client", "id AS first_id", "ts AS first_at")
    buys = given.where("kind = 'buy'").selectExpr("client AS who", "id AS then_id", "ts AS then_at")
    within = F.expr("client = who AND then_at > first_at AND then_at <= first_at + INTERVAL 40 SECONDS")
    follows = (
        ads.join(buys, within, "left")
        .groupBy("client", "first_id", "first_at")
        .agg(F.min(F.struct("then_at", "then_id")).alias("it"))
    )
    same(job, "pairs", follows.where("it.then_at IS NOT NULL").select("client", "first_id", "first_at", "it.then_id", "it.then_at"))
    missing = follows.where("it.then_at IS NULL")
    same(job, "missing", missing.selectExpr("client", "first_id", "first_at", "first_at + INTERVAL 40 SECONDS AS missing_at"))

    touches = ads.toDF("client", "touch_id", "touch_at")
    bought = buys.toDF("who", "conversion_id", "conversion_at")
    before = F.expr("client = who AND touch_at <= conversion_at AND touch_at >= conversion_at - INTERVAL 40 SECONDS")
    met = touches.join(bought, before)
    key = Window.partitionBy("conversion_id")
    for output, order in (("first", F.asc("touch_at")), ("last", F.desc("touch_at"))):
        ranked = met.withColumn("touches", F.count("*").over(key)).withColumn("rank", F.row_number().over(key.orderBy(order)))
        same(
            job,
            output,
            ranked.where("rank = 1").select("client", "conversion_id", "conversion_at", "touch_id", "touch_at", "touches"),
        )
    alone = bought.join(met.select("conversion_id"), "conversion_id", "left_anti")
    same(job, "alone", alone.selectExpr("who AS client", "conversion_id", "conversion_at"))

    placed = given.withColumn("position", F.row_number().over(by_time)).withColumn("before", F.lag("seq").over(by_time))
    same(job, "ordered", placed.select("client", "id", "ts", "seq", "v", "position"))
    gaps = placed.where("seq > before + 1").selectExpr(
        "client", "before + 1 AS missing_from", "seq - 1 AS missing_to", "ts AS noticed_at"
    )
    same(job, "gaps", gaps)
    for client in "ab":  # and so they lie in the files
        found = [row for row in job.rows("ordered") if row["client"] == client]
        assert [row["position"] for row in found] == list(range(1, len(found) + 1))
    assert [row["id"] for row in job.rows("late")] == ["late"]


def _runs(given, by_time):
    """With the number of the run of records that each is in: a new one begins more than thirty seconds after the one before."""
    begins = F.coalesce(F.col("ts") > F.lag("ts").over(by_time) + F.expr("INTERVAL 30 SECONDS"), F.lit(True)).cast("int")
    return given.withColumn("begins", begins).withColumn("run", F.sum("begins").over(by_time))
