"""Deduplication with a horizon of its own, on real Spark: what is remembered, for how long, and the account."""

import pytest

from spark.small_job import Binding, event
from streamproof.errors import JobDefinitionError, PlanChanged

pytestmark = pytest.mark.spark

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    once = events.deduplicate("id"{within})
    sums = once.window(sp.tumbling("30 seconds")).aggregate(n=F.count("*"))
    return sp.Outputs(kept=once, sums=sums, late=once.late)
"""
BOUND = Binding(sinks={"kept": "parquet", "sums": "parquet", "late": "json"})
FED = (
    [event("a", 0)],
    [event("a", 20), event("b", 100)],  # the watermark is not at 0 yet
    [event("c", 102), event("d", 95)],  # 90, and what is forgotten is so behind the batch
    [event("a", 103)],
    [event("b", 113)],
    [event("e", 104)],  # 103: between 95 and 5 seconds and 95 and 10
    [event("d", 114)],
)


@pytest.mark.parametrize(
    ("within", "kept"),
    [
        ("", "aabcde"),  # 10 seconds, the lag
        (', within="5 seconds"', "aabcdde"),
        (', within="2 minutes"', "abcde"),
    ],
    ids=["the lag", "5 seconds", "2 minutes"],
)
def test_r12_a_key_is_remembered_for_as_long_as_it_is_told(small_job, within, kept):
    job = small_job(JOB.format(within=within), BOUND)
    for rows in FED:
        job.feed(rows)

    result = job.run()

    found = next(one for one in result.accounts if one.query == "kept")
    assert "".join(job.ids()) == kept
    assert (found.adds_up, found.account.duplicate, found.account.emitted) == (True, 9 - len(kept), len(kept))


def test_the_window_behind_goes_by_the_watermarks_own_delay(small_job):
    job = small_job(JOB.format(within=', within="1 hour"'), BOUND)
    job.feed([event("a", 0)])
    job.feed([event("b", 50)])
    job.feed([event("c", 51)])

    job.run()

    assert [row["n"] for row in job.rows("sums")] == [1], "the window of 0 to 30 is over at 40, not an hour later"


def test_r25_another_horizon_on_an_old_checkpoint_is_refused(small_job):
    job = small_job(JOB.format(within=', within="1 minute"'), BOUND)
    job.feed([event("a", 0)])
    job.run()
    job.text = JOB.format(within=', within="2 minutes"')
    job.write()

    assert "deduplication within: 2 minutes now, 1 minute before" in job.stopped(PlanChanged).message


@pytest.mark.parametrize(
    ("within", "said"),
    [
        ('"0 seconds"', "a horizon is a duration greater than zero"),
        ('"5 lightyears"', "is not a duration"),
        ('"10 microseconds"', "is not a"),
        ("30", "a duration is a text"),
    ],
)
def test_a_horizon_that_makes_no_sense_is_refused(small_job, within, said):
    job = small_job(JOB.format(within=f", within={within}"), BOUND)

    with pytest.raises(JobDefinitionError, match=said):
        job.run()
