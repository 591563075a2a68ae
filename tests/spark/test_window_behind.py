"""A window after a window on real Spark: late is decided once, each batch takes rows through both, the account adds up over runs."""

import pytest

from spark.small_job import Binding, event, instant
from streamproof.config import load
from streamproof.errors import JobDefinitionError, PlanChanged
from streamproof.replay.bounded.run import run_bounded

CHAIN = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    halves = events{chain}.window({first}, by=("client", "id"), allowed_lateness="5 seconds").aggregate(n=F.count("*"), total=F.sum("v"))
    sums = halves.window(sp.tumbling("2 minutes"), by="client").aggregate(most=F.max("n"), largest=F.max("total"), ids=F.count("*"))
    return sp.Outputs(sums=sums, late=sums.late)
"""
HALVES = 'sp.tumbling("30 seconds")'
BOUND = Binding(sinks={"sums": "parquet", "late": "json"})


def test_r10_rows_go_through_both_windows_in_the_batch_in_which_they_are_due(small_job):
    job = small_job(CHAIN.format(chain="", first=HALVES), BOUND)
    job.feed([event("a", 1, v=0.1), event("a", 2, v=0.2), event("b", 3), event("a", 31, client="b")])
    job.feed([event("a", 100)])  # the watermark of the next batch is 85
    result = job.run()

    account = result.accounts[0]
    assert (account.account.open_state, account.account.emitted, account.adds_up) == (5, 0, True)
    assert job.rows("sums") == []

    job.feed([event("late", 59), event("c", 130)])
    job.feed([event("d", 136)])  # 121: the first two minutes are over, and their last halves with them
    result = job.run()

    assert job.ids("late") == ["late"]
    rows = {row["client"]: row for row in job.rows("sums")}
    assert set(rows["a"]) == {"client", "window_start", "window_end", "most", "largest", "ids"}
    assert (rows["a"]["window_start"], rows["a"]["window_end"]) == (instant(0), instant(120))
    assert [(name, row["most"], row["largest"], row["ids"]) for name, row in sorted(rows.items())] == [
        ("a", 2, 1.0, 3),
        ("b", 1, 1.0, 1),
    ]
    account = result.accounts[0]
    assert (account.input, account.account.emitted, account.account.late, account.account.open_state) == (8, 5, 1, 2)
    assert account.adds_up

    job.text = job.text.replace('"2 minutes"', '"4 minutes"')
    job.write()
    assert "window of window 2: tumbling 4 minutes now, tumbling 2 minutes before" in job.stopped(PlanChanged).message


@pytest.mark.full
def test_behind_a_deduplication_and_a_window_that_overlaps_every_record_counts_once_for_each_window(small_job, spark):
    first = 'sp.hopping("60 seconds", every="30 seconds")'
    job = small_job(CHAIN.format(chain='.deduplicate("id")', first=first), BOUND)
    job.feed([event("a", 1), event("a", 2), event("b", 31)])
    job.feed([event("z", 300)])

    result = job.run()

    account = result.accounts[0]
    assert (account.input, account.expanded, account.account.duplicate) == (4, 3, 1)
    assert (account.account.emitted, account.account.open_state, account.adds_up) == (4, 2, True)
    assert sum(row["ids"] for row in job.rows("sums")) == 4
    batch = run_bounded(load(job.folder), spark=spark).accounts[0]
    assert (batch.input, batch.expanded, batch.account.emitted, batch.adds_up) == (4, 3, 6, True)


def test_a_key_that_the_first_window_does_not_have_is_refused(small_job):
    text = CHAIN.format(chain="", first=HALVES).replace('by="client")', 'by="v")')
    error = small_job(text, BOUND).stopped(JobDefinitionError)

    assert "behind a window that is not by v" in error.message
