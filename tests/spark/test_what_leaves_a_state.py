"""What a batch reads of its state to find what leaves it: all of it once in a run, and then only what leaves."""

from typing import Any

import pytest

from full_tables import full
from spark.small_job import SUMS, WINDOWED, Binding, SmallJob, event
from streamproof.config import load
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

EARLY = SUMS.replace('by="client")', 'by="client", allowed_lateness="20 seconds", emit="early")')
JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=events.{call})
"""
BOUND = Binding(sinks={"out": "parquet"})
KEYED = """keyed(
        "client",
        state={"n": "0L"},
        on_row=sp.step(set={"n": "n + 1", "silence": "greatest(silence, ts + INTERVAL 20 SECONDS)"}),
        on_timer={"silence": sp.step(emit=sp.emit("client", "n"))},
        ttl="20 seconds",
    )"""
OPERATORS = {
    "deduplicate": 'deduplicate("client", within="20 seconds")',
    "latest": 'latest("client", order_by="v", within="20 seconds")',
    "keyed": KEYED,
}


def ran(job: SmallJob, output: str = "sums") -> list[tuple[bool, int]]:
    """Runs the job; of each batch whether its state stores were read from end to end, and how many rows left them."""
    running = start_query(bind(load(job.folder)), output, job.spark.newSession(), Start())
    running.wait()
    states = [batch["stateOperators"][0] for batch in running.stream.recentProgress]
    return [(one["customMetrics"]["rocksdbTotalBytesReadThroughIterator"] > 0, one["numRowsRemoved"]) for one in states]


def looked(job: SmallJob) -> list[bool]:
    return [read for read, _ in ran(job)]


def ends(job: SmallJob, batch: int) -> list[int]:
    """The windows that a batch has published, by their ends in seconds after nine o'clock."""
    starts = [row["window_start"] for row in job.rows("sums", batch=f"{batch:06d}")]
    return sorted((start.minute * 60 + start.second) + 30 for start in starts)


def test_a_run_looks_at_all_windows_once(small_job):
    job = small_job(SUMS, WINDOWED)
    for number, at in enumerate((0, 1, 5, 40, 41, 42)):
        job.feed([event(f"e{number}", at)])

    found = looked(job)

    # The first batch does not know; the fifth is the first whose watermark is 30 seconds, which is where the first window ends.
    assert found == [True, *[False] * 6]
    assert [ends(job, batch) for batch in range(7)] == [[], [], [], [], [30], [], []]

    job.feed([event("e6", 80)])
    job.feed([event("e7", 81)])
    assert looked(job) == [True, False, False], "a run that starts again does not know either"
    assert [ends(job, batch) for batch in (7, 8, 9)] == [[], [60], []]


def test_a_window_that_opens_late_and_ends_first_is_not_passed_over(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("a", 115)])  # the watermark is 105 seconds from now on
    job.feed([event("b", 62)])  # not late: it is held against the watermark of the batch before

    assert looked(job)[:2] == [True, False]

    assert [ends(job, batch) for batch in (0, 1)] == [[], [90]]


def test_running_results_are_given_alike_and_their_windows_leave_the_state_when_they_are_over(small_job):
    job = small_job(EARLY, WINDOWED)
    for number, at in enumerate((0, 1, 60, 61, 62)):
        job.feed([event(f"e{number}", at)])

    # A window stays for 20 seconds more; 60 less 10 less 20 is where the first one leaves.
    assert ran(job) == [(True, 0), (False, 0), (False, 0), (False, 1), (False, 0), (False, 0)]

    assert [ends(job, batch) for batch in range(5)] == [[30], [30], [90], [90], [90]]


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_key_leaves_by_its_newest_instant_without_a_look_at_the_others(small_job, operator):
    """`a` and `b` come at 0; `a` comes again at 12, which counts for all but a deduplication."""
    job = small_job(JOB.format(call=OPERATORS[operator]), BOUND)
    for at, clients in ((0, "ab"), (12, "a"), (31, "c"), (31.5, "d"), (44, "e"), (44.5, "f"), (90, "g"), (90.5, "h")):
        job.feed([event(f"{client}{at}", at, v=at, client=client) for client in clients])

    found = ran(job, "out")

    assert [read for read, _ in found] == [True, *[False] * (len(found) - 1)]
    left = [sum(removed for _, removed in found[:batches]) for batches in (3, 5, 7)]
    # The watermark is 21 seconds after the third batch, 34 after the fifth, 80 after the seventh.
    assert left == ([0, 2, 2] if operator == "deduplicate" else [0, 1, 2])
    assert sum(removed for _, removed in found) == 6, "g and h stay"


@pytest.mark.parametrize("operator", ["deduplicate", *full("keyed")])
def test_more_keys_than_are_known_leave_when_it_is_their_time(small_job, operator):
    """Of 40,000 keys, one a millisecond, 10,000 are known at a time. A key leaves 20 seconds after its event."""
    job = small_job(
        JOB.format(call=OPERATORS[operator]), Binding(sinks={"out": "parquet"}, spark={"spark.sql.shuffle.partitions": "1"})
    )
    job.feed([event(f"e{n}", n / 1_000, client=f"c{n}") for n in range(40_000)])
    later = [30.001 + 5 * number for number in range(9)]
    for number, at in enumerate(later):
        job.feed([event(f"p{number}", at, client="p")])

    found = ran(job, "out")

    watermarks = [0, *(max([39.999, *later[:batch]]) - 10 for batch in range(10))]
    over = [max(0, min(40_000, round((watermark - 20) * 1_000) + 1)) for watermark in watermarks]
    if operator == "deduplicate":
        over[8:] = [keys + 1 for keys in over[8:]]  # p too; elsewhere each row of it keeps it
    assert [sum(removed for _, removed in found[: batch + 1]) for batch in range(11)] == over
    assert over[-1] >= 40_000
    assert sum(read for read, _ in found) <= 4


def test_what_another_attempt_has_written_is_not_known(spark):
    """Two attempts of a task write one version, each with a checkpoint id of its own; format 1 has none."""
    java: Any = spark._jvm
    some, none = java.scala.Option.apply, java.scala.Option.empty()
    known = java.io.streamproof.SoonestOfVersion()
    soonest = java.io.streamproof.Soonest(10)

    def keep(version, checkpoint):
        known.keep(version, checkpoint, soonest)

    assert known.take(0, none) is None
    for version, checkpoint in ((3, some("b")), (3, none), (4, some("a"))):
        keep(3, some("a"))
        assert known.take(version, checkpoint) is None
    keep(3, some("a"))
    assert known.take(3, some("a")) is not None
    assert known.take(3, some("a")) is None, "who has taken it changes it"
    keep(4, none)
    assert known.take(4, none) is not None


def test_an_operator_that_is_not_known_is_never_passed_over(monkeypatch):
    from streamproof.checkpoint import state
    from streamproof.errors import UnknownState

    monkeypatch.setattr(state, "operators", lambda *_: {0: "anotherOperator"})

    with pytest.raises(UnknownState, match="operator 0 is anotherOperator"):
        state.open_windows(None, "checkpoint")
