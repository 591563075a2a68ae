"""Windows that give several rows, on real Spark: which batch gives which, with which revision; the account at every moment."""

import pytest

from spark.small_job import Binding, event, instant

pytestmark = pytest.mark.spark

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    sums = events{chain}.window({window}, by="client", allowed_lateness="20 seconds", emit="{emit}").aggregate(n=F.count("*"), total=F.sum("v"))
    return sp.Outputs(sums=sums{behind}, late=sums.late)
"""
TUMBLING = 'sp.tumbling("30 seconds")'
BOUND = Binding(sinks={"sums": "parquet", "late": "json"})


def job_of(emit, window=TUMBLING, chain="", behind=""):
    return JOB.format(emit=emit, window=window, chain=chain, behind=behind)


def shown(job, batch=None):
    """By batch the rows: client, start in seconds, revision, count."""
    found = {}
    for folder in sorted(job.out("sums").glob("batch=*")):
        rows = job.rows("sums", batch=folder.name[6:])
        found[int(folder.name[6:])] = sorted(
            (row["client"], (row["window_start"] - instant(0)).total_seconds(), row["revision"], row["n"]) for row in rows
        )
    return found if batch is None else found.get(batch, [])


def account(result):
    found = result.accounts[0]
    assert found.adds_up, found
    return found.account


def test_early_rows_come_with_every_batch_that_changes_a_window(small_job):
    job = small_job(job_of("early"), BOUND)
    job.feed([event("a", 1), event("b", 2), event("c", 1, client="b")])
    job.feed([event("d", 3), event("e", 40)])
    job.feed([event("f", 200)])

    result = job.run()

    assert shown(job) == {0: [("a", 0, 0, 2), ("b", 0, 0, 1)], 1: [("a", 0, 1, 3), ("a", 30, 0, 1)], 2: [("a", 180, 0, 1)]}
    assert (account(result).emitted, account(result).open_state, result.open_windows) == (6, 0, 1)

    job.feed([event("late", 45), event("g", 200)])
    result = job.run()

    assert shown(job)[max(shown(job))] == [("a", 180, 1, 2)]
    assert job.ids("late") == ["late"]
    assert (account(result).emitted, account(result).late) == (7, 1)


CORRECTED = [
    [event("a", 1), event("b", 2, client="b"), event("c", 40)],  # nothing is on time: the watermark is 0
    [event("d", 3), event("e", 45)],  # maximum 45, the watermark of the next batch 15, on time 35
    [event("f", 41), event("g", 5, client="b")],  # the windows up to 30 are on time, b's with what came just now
    [event("h", 6), event("i", 100)],  # a's first window again; the next batch is at 70, on time 90
    [event("j", 7)],  # 30 <= 70: late
]


def test_corrections_come_on_time_and_once_more_for_each_batch_that_changes_a_window(small_job):
    job = small_job(job_of("corrections"), BOUND)
    for rows in CORRECTED:
        job.feed(rows)

    result = job.run()

    assert shown(job) == {
        2: [("a", 0, 0, 2), ("b", 0, 0, 2)],
        3: [("a", 0, 1, 3)],
        4: [("a", 30, 0, 3)],
    }
    found = account(result)
    assert (found.emitted, found.open_state, found.late, result.open_windows) == (8, 1, 1, 1)
    assert not list(job.checkpoint("sums").glob("_streamproof/parked/00000[0-2]-*")), "what nobody needs any more is gone"
