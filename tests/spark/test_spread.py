"""Rows are dealt over tasks before they are aggregated by their key: same rows, same account, and no partition that has all of a key (S13)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.sql import functions as F

from full_tables import full
from spark.small_job import WINDOWED, SmallJob, event
from streamproof.errors import JobDefinitionError
from streamproof.runtime.watching.events import HotKey
from streamproof.stream.operators import WindowAggregate
from streamproof.stream.operators.spread import DEALS_ALIKE, dealt

ROWS = 6_000
BOUND = replace(WINDOWED, spark={"spark.sql.shuffle.partitions": "4"})
TUMBLING, HOPPING, SESSION = 'sp.tumbling("30 seconds")', 'sp.hopping("30 seconds", every="10 seconds")', 'sp.session("5 seconds")'
CUT = 'sp.session("5 seconds", longest="20 seconds")'


def job_of(window: str, *, spread: int | None = None, emit: str = "final", total: str = 'F.sum("v")') -> str:
    given = f", spread={spread}" if spread else ""
    return f"""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    sums = checked.window({window}, by="client", emit={emit!r}).aggregate(total={total}, n=F.count("*"){given})
    return sp.Outputs(sums=sums, late=sums.late, rejected=checked.rejected)
"""


def rows(begin: float) -> Iterator[dict]:
    """Of ten rows eight of one client, who is never quiet, and two of many others; now and then one that is too late, and one that is rejected."""
    for number in range(ROWS):
        at = begin + number / 50
        late, rejected = number % 1_000 == 999, number % 500 == 7
        client = "hot" if number % 10 < 8 else f"c{number % 300}"
        yield event(f"{begin}-{number}", at - 500 if late else at, -1.0 if rejected else float(number % 7), client)


def fed(job: SmallJob) -> SmallJob:
    for batch in range(3):
        job.feed(rows(batch * 120.0))
    job.feed([event("end", 4_000)])
    return job


def outcome(job: SmallJob, result) -> tuple:
    by_row = sorted(tuple(sorted(row.items(), key=lambda item: item[0])) for row in job.rows("sums"))
    return by_row, result.account.as_dict(), sorted(row["id"] for row in job.rows("late"))


@pytest.mark.parametrize(
    ("window", "emit"),
    [(TUMBLING, "final"), *full((HOPPING, "early")), (SESSION, "final"), *full((CUT, "final"))],
    ids=["tumbling", "hopping", "session", "cut"],
)
def test_the_same_rows_and_the_same_account(small_job, window, emit):
    plain = fed(small_job(job_of(window, emit=emit), BOUND, folder="plain"))
    spread = fed(small_job(job_of(window, emit=emit, spread=3), BOUND, folder="spread"))

    expected = outcome(plain, plain.run())

    assert outcome(spread, spread.run()) == expected
    assert expected[0]
    assert expected[1]["late"] > 0
    assert expected[1]["rejected"] > 0


def hottest(job: SmallJob) -> HotKey:
    heard = []
    job.run(listener=heard.append)
    return next(each for each in heard if isinstance(each, HotKey))


def test_no_partition_reads_most_of_the_rows_of_a_session_any_more(small_job, monkeypatch):
    """A job with `spread` is not watched; here it is, as what tells how many rows partitions have read."""
    monkeypatch.setattr(WindowAggregate, "grouped_by", property(lambda self: self.by))
    plain = hottest(fed(small_job(job_of(SESSION), BOUND, folder="plain")))
    spread = hottest(fed(small_job(job_of(SESSION, spread=4), BOUND, folder="spread")))

    assert plain.share == spread.share == pytest.approx(0.8, abs=0.03), "the key is as hot as it was"
    assert plain.partitions.most_rows > 0.7 * ROWS
    assert spread.partitions.most_rows < 0.4 * ROWS


def one_by_one(job: SmallJob, *spreads: int | None) -> tuple:
    """What comes of a job that is run for each batch, with another `spread`: the batches are the same then, and with them what is late."""
    for batch, spread in enumerate(spreads):
        job.text = job_of(SESSION, spread=spread)
        job.write()
        job.feed(rows(batch * 120.0))
        job.run()
    job.feed([event("end", 4_000)])
    return outcome(job, job.run())


@pytest.mark.full
def test_it_comes_and_goes_on_a_checkpoint_that_is_there(small_job):
    """The state is the same: one of each window and key."""
    plain = one_by_one(small_job(job_of(SESSION), BOUND, folder="plain"), None, None, None)

    assert one_by_one(small_job(job_of(SESSION), BOUND, folder="changing"), None, 3, None) == plain


@pytest.mark.parametrize("total", ['F.first("v")', 'F.collect_list("v")', 'F.element_at(F.collect_list("v"), 1)'])
def test_what_depends_on_the_order_of_rows_is_refused_with_the_reason(small_job, total):
    error = small_job(job_of(TUMBLING, spread=3, total=total), BOUND).stopped(JobDefinitionError)

    assert "aggregate(total=..., spread=...) depends on the order of rows" in str(error)


@pytest.mark.parametrize(
    "total",
    [
        'F.sort_array(F.collect_list("v"))',
        'F.array_sort(F.collect_list("v"))',
        'F.max_by("id", "v")',
        'F.percentile_approx("v", 0.5)',
    ],
)
def test_what_does_not_depend_on_it_is_taken(small_job, total):
    job = small_job(job_of(TUMBLING, spread=3, total=total), BOUND)
    job.feed([event("a", 0)])

    job.run()


def test_rows_that_come_in_another_order_are_dealt_alike(spark):
    """A task that runs again, since an executor was lost, can fetch its rows in another order (R15)."""
    assert DEALS_ALIKE.items() <= {key: spark.conf.get(key) for key in DEALS_ALIKE}.items()

    def places(number):
        rows = spark.range(0, 1_000, 1, 1).select(number.alias("number"))
        return {row[0]: row[1] for row in dealt(rows, 3).select("number", F.spark_partition_id()).collect()}

    found = places(F.col("id"))

    assert found == places(999 - F.col("id"))
    assert sorted(Counter(found.values()).values()) == [333, 333, 334]
