"""What a batch reads of the state of windows: all of it only where a window can have ended."""

import pytest

from spark.small_job import SUMS, WINDOWED, SmallJob, event
from streamproof.config import load
from streamproof.runtime.binding import bind
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

pytestmark = pytest.mark.spark


def looked(job: SmallJob) -> list[bool]:
    """Runs the job; of each batch whether its state stores were read from end to end."""
    running = start_query(bind(load(job.folder)), "sums", job.spark.newSession(), Start())
    running.wait()
    metrics = [batch["stateOperators"][0]["customMetrics"] for batch in running.stream.recentProgress]
    return [found["rocksdbTotalBytesReadThroughIterator"] > 0 for found in metrics]


def ends(job: SmallJob, batch: int) -> list[int]:
    """The windows that a batch has published, by their ends in seconds after nine o'clock."""
    starts = [row["window_start"] for row in job.rows("sums", batch=f"{batch:06d}")]
    return sorted((start.minute * 60 + start.second) + 30 for start in starts)


def test_a_batch_looks_at_all_windows_only_where_one_can_have_ended(small_job):
    job = small_job(SUMS, WINDOWED)
    for number, at in enumerate((0, 1, 5, 40, 41, 42)):
        job.feed([event(f"e{number}", at)])

    found = looked(job)

    # The first batch does not know; the fifth is the first whose watermark is 30 seconds, which is where the first window ends.
    assert found == [True, False, False, False, True, False, False]
    assert [ends(job, batch) for batch in range(7)] == [[], [], [], [], [30], [], []]

    job.feed([event("e6", 80)])
    job.feed([event("e7", 81)])
    assert looked(job) == [True, True, False], "a run that starts again does not know either"
    assert [ends(job, batch) for batch in (7, 8, 9)] == [[], [60], []]


def test_a_window_that_opens_late_and_ends_first_is_not_passed_over(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("a", 115)])  # the watermark is 105 seconds from now on
    job.feed([event("b", 62)])  # not late: it is held against the watermark of the batch before

    assert looked(job)[:2] == [True, True]

    assert [ends(job, batch) for batch in (0, 1)] == [[], [90]]
