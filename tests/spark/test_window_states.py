"""What a batch reads of the state of windows: all of it only where a window can have ended."""

from typing import Any

import pytest

from spark.small_job import SUMS, WINDOWED, SmallJob, event
from streamproof.config import load
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

EARLY = SUMS.replace('by="client")', 'by="client", allowed_lateness="20 seconds", emit="early")')


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


def test_running_results_are_given_alike_and_their_windows_leave_the_state_when_they_are_over(small_job):
    job = small_job(EARLY, WINDOWED)
    for number, at in enumerate((0, 1, 60, 61, 62)):
        job.feed([event(f"e{number}", at)])

    # A window stays for 20 seconds more; 60 less 10 less 20 is where the first one leaves.
    assert looked(job) == [True, False, False, True, False, False]

    assert [ends(job, batch) for batch in range(5)] == [[30], [30], [90], [90], [90]]


def test_what_another_attempt_has_written_is_not_known(spark):
    """Two attempts of a task write one version, each with a checkpoint id of its own; format 1 has none."""
    java: Any = spark._jvm
    some, none = java.scala.Option.apply, java.scala.Option.empty()
    known = java.io.streamproof.EarliestEnd()
    unknown = known.of(0, none)

    known.remember(3, some("a"), 90)
    assert [known.of(3, some("a")), known.of(3, some("b")), known.of(3, none), known.of(4, some("a"))] == [90, *[unknown] * 3]

    known.remember(4, none, 120)
    assert [known.of(4, none), known.of(3, none), known.of(3, some("a"))] == [120, *[unknown] * 2]


def test_an_operator_that_is_not_known_is_never_passed_over(monkeypatch):
    from streamproof.checkpoint import state
    from streamproof.errors import UnknownState

    monkeypatch.setattr(state, "operators", lambda *_: {0: "anotherOperator"})

    with pytest.raises(UnknownState, match="operator 0 is anotherOperator"):
        state.open_windows(None, "checkpoint")
