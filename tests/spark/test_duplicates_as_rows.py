"""The rows that a deduplication drops, as an output of their own, on real Spark: which they are, under crashes too, and what the account says."""

from collections import Counter

import pytest

from spark.small_job import Binding, event

pytestmark = pytest.mark.spark

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    once = events.deduplicate({key})
    return sp.Outputs(kept=once, again=once.duplicates)
"""
SUMS = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    sums = events.deduplicate("id").window(sp.tumbling("30 seconds")).aggregate(n=F.count("*"))
    return sp.Outputs(sums=sums, again=sums.duplicates, late=sums.late)
"""
BOUND = Binding(sinks={"kept": "parquet", "again": "json", "sums": "parquet", "late": "json"})
MANY = [event(f"e{number % 37}", number % 5, v=float(number)) for number in range(400)]


def counted(rows):
    """Rows by their number, which `v` is."""
    return Counter(row["v"] for row in rows)


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_every_dropped_row_is_in_the_output_and_no_other_one(small_job, form):
    job = small_job(JOB.format(key='"id"'), Binding(sinks={"kept": "parquet", "again": form}))
    for begin in range(0, 400, 80):
        job.feed(MANY[begin : begin + 80])

    (found,) = job.run().accounts

    kept, again = job.rows("kept"), job.rows("again")
    assert (len(kept), len(again)) == (37, 363)
    assert len({row["id"] for row in kept}) == 37
    assert counted(kept) + counted(again) == counted(MANY), "each row is in one of the two, once"
    assert {(row["id"], row["reason"]) for row in again} == {
        (f"e{number}", "a row of its key was taken before") for number in range(37)
    }
    assert (found.adds_up, found.account.duplicate) == (True, 363)
