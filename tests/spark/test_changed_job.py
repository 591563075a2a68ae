"""A job that was changed on a checkpoint of its former self is refused before its first batch, with the difference (R25)."""

from dataclasses import replace

import pytest

from full_tables import full
from spark.small_job import EVENT_TIME, KEPT, SUMS, WINDOWED, Binding, event
from streamproof.core.account import Account
from streamproof.errors import PlanChanged

ONCE = SUMS.replace('checked.window(sp.tumbling("30 seconds"), by="client")', 'checked.deduplicate("id").window({window})').replace(
    "{window}", 'sp.tumbling("30 seconds"), by="client", allowed_lateness="20 seconds"'
)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("30 seconds", "1 minute"), "window: tumbling 1 minute now, tumbling 30 seconds before"),
        *full(
            (('by="client"', 'by="id"'), "window key: id string now, client string before"),
            (("total=F.sum", "sum_of_v=F.sum"), "aggregate sum_of_v: sum(v) double now, none before"),
            (("n=F.count", "largest=F.max('v'), n=F.count"), "aggregate largest: max(v) double now, none before"),
            (('F.sum("v")', 'F.max("v")'), "aggregate total: max(v) double now, sum(v) double before"),
            (('deduplicate("id")', 'deduplicate("client")'), "deduplication key: client string now, id string before"),
            (('.deduplicate("id")', ""), "operators: window now, deduplicate, window before"),
            (('"20 seconds"', '"30 seconds"'), "allowed lateness: 30 seconds now, 20 seconds before"),
        ),
    ],
    ids=[
        "window",
        "key",
        "aggregate renamed",
        "aggregate added",
        "another function",
        "deduplication key",
        "operator",
        "lateness",
    ],
)
def test_r25_a_changed_job_is_refused_with_the_difference(small_job, change, what):
    job = small_job(ONCE, WINDOWED)
    job.feed([event("e1", 1)])
    job.run()
    assert change[0] in ONCE
    job.text = ONCE.replace(*change)
    job.write()
    job.feed([event("e2", 2)])

    error = job.stopped(PlanChanged)

    assert what in error.message
    assert "checkpoint" in error.remedy
    assert "--replay-last" not in str(error)
    job.text = ONCE
    job.write()
    assert job.run().account == Account(open_state=2)


@pytest.mark.full
def test_r25_another_type_of_a_column_is_another_state(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    job.run()
    job.binding = replace(WINDOWED, schema="id string, client string, v long, ts long")
    job.write()

    assert "aggregate total: sum(v) bigint now, sum(v) double before" in job.stopped(PlanChanged).message


@pytest.mark.full
def test_r25_a_changed_lag_is_refused_until_it_is_accepted(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    job.run()
    job.binding = replace(WINDOWED, event_time=EVENT_TIME.replace("10 seconds", "20 seconds"))
    job.write()
    job.feed([event("e2", 45)])
    job.feed([event("e3", 51)])

    error = job.stopped(PlanChanged)
    assert "lag: 20 seconds now, 10 seconds before" in error.message
    assert "--accept-lateness" in error.remedy

    result = job.run(accept_lateness=True)
    assert result.account == Account(emitted=1, open_state=2)  # the watermark is at 31 seconds
    assert job.run().account == result.account  # accepted once, it stands


@pytest.mark.full
def test_r25_nothing_but_lateness_can_be_accepted(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    job.run()
    job.text = SUMS.replace("30 seconds", "1 minute")
    job.binding = replace(WINDOWED, event_time=EVENT_TIME.replace("10 seconds", "20 seconds"))
    job.write()

    error = job.stopped(PlanChanged, accept_lateness=True)
    assert "window: tumbling 1 minute now" in error.message


@pytest.mark.full
def test_r25_what_no_state_depends_on_may_change(small_job):
    """Requirements, filters and transforms before the window."""
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    job.run()
    job.text = SUMS.replace('require(v="v >= 0")', 'require(v="v >= 5").transform(lambda rows: rows.withColumn("w", F.col("v")))')
    job.write()
    job.feed([event("e2", 2, v=3), event("e3", 2, v=7)])

    assert job.run().account == Account(open_state=2, rejected=1)


def test_r25_where_there_is_no_state_the_event_time_may_be_mended(small_job):
    job = small_job(KEPT, Binding(event_time=EVENT_TIME.replace("milliseconds", "seconds")))
    job.feed([event("e1", 1)])
    assert job.run().account.rejected == 1  # far ahead of its batch
    job.binding = Binding()
    job.write()
    job.feed([event("e2", 2)])

    assert job.run().account == Account(emitted=1, rejected=1)
