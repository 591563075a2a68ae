"""Lateness, clocks, state, and the account (R10 to R15, R21): rules of docs/protocol.md, each on a real run.

A crash is the files it takes away, or a fault at a chosen step.
"""

import json
from dataclasses import replace

import pytest

from full_tables import beyond
from spark.small_job import KEPT, START, SUMS, WINDOWED, Binding, dies, event, instant
from streamproof.checkpoint.state import windows
from streamproof.core.account import Account

CENTURY = 100 * 365 * 86_400
ONLY_KEPT = Binding(sinks={"kept": "parquet"})


def late_chain(deduplicate: str) -> str:
    return f"""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    sums = events{deduplicate}.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="20 seconds").aggregate(n=F.count("*"))
    return sp.Outputs(sums=sums, late=sums.late)
"""


@pytest.mark.parametrize(
    ("deduplicate", "late"),
    [("", ["at 29.999", "at 45"]), ('.deduplicate("id")', ["at 29.999", "at 45", "at 60"])],
    ids=["by window end", "by event time behind a deduplication"],
)
def test_r10_late_is_decided_once_by_the_strictest_rule_of_the_chain(small_job, deduplicate, late):
    """The bound of batch 2 is the watermark of batch 1: the newest event of batch 0, less lag and allowed lateness, 09:01:00."""
    job = small_job(late_chain(deduplicate), Binding(sinks={"sums": "parquet", "late": "json"}))
    job.feed([event("first", 90)])
    job.feed([event("second", 90)])
    job.feed([event(f"at {at}", at) for at in (29.999, 45, 60, 60.001)])

    result = job.run()

    assert job.ids("late") == late
    assert result.account.late == len(late)
    assert result.accounts[0].adds_up


def test_r10_before_the_first_watermark_the_bound_is_1970(small_job):
    job = small_job(late_chain('.deduplicate("id")'), Binding(sinks={"sums": "parquet", "late": "json"}))
    old = [{"id": f"{ms} ms", "client": "a", "v": 1.0, "ts": ms} for ms in (-1, 0, 1)]
    job.feed(old)

    result = job.run()

    assert job.ids("late") == ["-1 ms", "0 ms"]
    assert result.account == Account(late=2, open_state=1)


def test_r12_a_key_is_remembered_for_lag_and_allowed_lateness(small_job):
    """The first e1 expires at 09:00:31: 30 seconds after it, not 10. A state is dropped at the end of a batch, by its watermark."""
    job = small_job(late_chain('.deduplicate("id")'), Binding(sinks={"sums": "parquet", "late": "json"}))
    job.feed([event("e1", 1), event("e2", 35)])
    job.feed([event("e3", 36)])  # the watermark is 09:00:05; by the lag alone it were 09:00:25, and e1 forgotten after this batch
    job.feed([event("e1", 37)])
    job.feed([event("e4", 70)])
    job.feed([event("e5", 71)])  # the watermark is 09:00:40: e1 is forgotten after this batch
    job.feed([event("e1", 72)])

    result = job.run()

    assert result.account == Account(emitted=1, open_state=5, duplicate=1)


def test_r12_a_window_is_kept_by_its_end_and_dropped_when_the_watermark_reaches_it(small_job, spark):
    """Spark evicts by the column that carries `spark.watermarkDelayMs`, an internal key: here it is seen to."""
    job = small_job(late_chain(""), Binding(sinks={"sums": "parquet", "late": "json"}))
    job.feed([event("e1", 29), event("e2", 30)])

    assert (job.run().account, ends_in_state(spark, job)) == (Account(open_state=2), [30, 60])
    job.feed([event("e3", 59.999)])  # the watermark is 09:00:29.999
    assert (job.run().account, ends_in_state(spark, job)) == (Account(open_state=3), [30, 60])
    job.feed([event("e4", 60)])  # 09:00:30
    assert (job.run().account, ends_in_state(spark, job)) == (Account(emitted=1, open_state=3), [60, 90])
    assert [(row["window_start"], row["window_end"], row["n"]) for row in job.rows("sums")] == [(instant(0), instant(30), 1)]
    assert [column.metadata for column in spark.read.parquet(str(job.out("sums"))).schema] == [{}] * 5


def ends_in_state(spark, job) -> list[float]:
    """The ends of the windows in state, in seconds after nine o'clock."""
    rows = windows(spark, str(job.checkpoint("sums")), 0).collect()
    return sorted(row["end_us"] / 1_000_000 - START.timestamp() for row in rows)


def test_r13_the_far_future_is_measured_by_the_batchs_own_time(small_job):
    """The crash leaves a planned batch; its time is in the offset log and stays when the batch runs later."""
    bound = Binding(event_time='event_time = { column = "ts", unit = "milliseconds", max_future = "5 minutes" }')
    job = small_job(KEPT, bound)
    job.feed([event("near", 299), event("far", 301)])
    dies(job, "create", "/out/kept/_staging/")
    log = job.checkpoint() / "offsets/0"
    version, metadata, *ends = log.read_text().split("\n")
    then = json.loads(metadata) | {"batchTimestampMs": int(instant(0).timestamp() * 1000)}
    log.write_text("\n".join([version, json.dumps(then), *ends]))
    log.with_name(".0.crc").unlink(missing_ok=True)

    job.run()

    assert job.ids() == ["near"]
    (row,) = job.rows("rejected")
    assert (row["id"], row["reason"]) == ("far", "event time more than 5 minutes in the future")


@pytest.mark.full
def test_one_event_far_ahead_is_rejected_and_a_run_that_takes_it_says_how_the_watermark_leapt(small_job):
    found = {}
    for folder, limit in (("protected", ""), ("open", ', max_future = "none"')):
        declared = f'event_time = {{ column = "ts", unit = "milliseconds"{limit} }}'
        job = small_job(SUMS, replace(WINDOWED, event_time=declared), folder=folder)
        job.feed([event("e1", 0), event("far", CENTURY)])
        job.feed([event("e2", 61)])
        job.feed([event("e3", 62), event("e4", 63)])  # the bound is the watermark of the batch before
        found[folder] = job.run()

    assert (found["protected"].account.rejected, found["protected"].account.late, found["protected"].leaps) == (1, 0, [])
    (rejected,) = [output for output in found["protected"].outputs if output.name == "rejected"]
    assert rejected.reasons == {"event time more than 1 day in the future": 1}
    (leap,) = found["open"].leaps
    assert (leap.query, leap.batch, leap.late, found["open"].account.late) == ("sums", 1, 2, 2)
    assert leap.after == instant(CENTURY)
    assert leap.note in found["open"].notes


def test_r14_late_rows_are_delivered_per_query_and_rejected_ones_once(small_job):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    short = checked.window(sp.tumbling("10 seconds")).aggregate(n=F.count("*"))
    long = checked.window(sp.tumbling("1 minute")).aggregate(n=F.count("*"))
    return sp.Outputs(short=short, long=long, rejected=checked.rejected)
"""
    job = small_job(text, Binding(sinks={"short": "parquet", "long": "parquet", "rejected": "json"}))
    job.feed([event("e1", 50), event("bad", 50, v=-1)])
    job.feed([event("e2", 50)])
    job.feed([event("e3", 5)])  # the bound is 09:00:40: after the end of 09:00:00-09:00:10, not of 09:00-09:01

    result = job.run()

    assert job.ids("short_late") == ["e3"]
    assert job.rows("long_late") == []
    assert job.ids("rejected") == ["bad"]
    accounts = {account.query: account.account for account in result.accounts}
    assert accounts["short"] == Account(open_state=2, late=1, rejected=1)
    assert accounts["long"] == Account(open_state=3, rejected=1)


def test_r15_a_replayed_batch_is_counted_once_in_the_account(small_job):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    wanted = events.require(v="v >= 0").filter("client = 'a'", name="client a")
    return sp.Outputs(kept=wanted.deduplicate("id"))
"""
    job = small_job(text, ONLY_KEPT)
    job.feed([event("e1", 1), event("bad", 2, v=-1), event("other", 3, client="b")])
    job.feed([event("e1", 1), event("bad", 2, v=-1), event("other", 3, client="b"), event("e2", 2)])
    before = job.run()
    assert before.account == Account(emitted=2, rejected=2, duplicate=1, filtered=2)
    job.lose("commits/1")

    again = job.run()

    assert again.account == before.account
    assert (again.account_input, again.accounts[0].adds_up) == (7, True)
    assert job.ids() == ["e1", "e2"]


def test_r21_state_is_kept_in_checkpoint_format_2(small_job):
    """The default: every attempt's state files have names of their own, with checksums."""
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    job.run()
    assert "v2" in (job.checkpoint("sums") / "commits/0").read_text().splitlines()[0]


def test_r21_checkpoint_format_1_works_and_is_said_to_be_weaker(small_job):
    job = small_job(SUMS, replace(WINDOWED, spark={"spark.sql.streaming.stateStore.checkpointFormatVersion": "1"}))
    job.feed([event("e1", 1)])
    result = job.run()
    assert "v1" in (job.checkpoint("sums") / "commits/0").read_text().splitlines()[0]
    assert sum("checkpoint format 1" in note for note in result.notes) == 1
    job.feed([event("e2", 100), event("e3", 200)])
    assert job.run().account == Account(emitted=2, open_state=1)


MADE_TIMES = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    timed = events.transform(lambda rows: rows.withColumn("ts", F.expr(
        "CASE client WHEN 'none' THEN null WHEN 'far' THEN timestamp_micros(-9223372036854775807) ELSE ts END")))
    {kept}
    return sp.Outputs(sums=sums, rejected=timed.rejected)
"""


@pytest.mark.parametrize(
    "kept",
    beyond(
        1,
        [
            f'sums = timed.window({window}, by="client"{emit}).aggregate(n=F.count("*"))'
            for window in (
                'sp.tumbling("30 seconds")',
                'sp.hopping("20 seconds", every="10 seconds")',
                'sp.calendar("day", zone="Asia/Kathmandu")',
            )
            for emit in ("", ', emit="corrections"')
        ]
        + ['sums = timed.window(sp.session("5 seconds"), by="client").aggregate(n=F.count("*"))', 'sums = timed.deduplicate("id")'],
    ),
)
def test_r15_an_event_whose_time_a_transform_has_lost_is_rejected_in_front_of_every_state(small_job, kept):
    job = small_job(MADE_TIMES.format(kept=kept), Binding(sinks={"sums": "json", "rejected": "json"}))
    job.feed([event("a", 1), event("b", 2, client="none"), event("c", 3, client="far"), event("d", 4)])
    job.feed([event("e", 500_000), event("f", 2, client="none")])

    result = job.run()

    assert sorted((row["client"], row["reason"]) for row in job.rows("rejected")) == [
        ("far", "no event time in ts"),
        ("none", "no event time in ts"),
        ("none", "no event time in ts"),
    ]
    found = result.accounts[0]
    assert (found.adds_up, found.account.rejected) == (True, 3)
    assert {row["client"] for row in job.rows("sums")} == {"a"}
