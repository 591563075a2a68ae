"""Deduplication with a horizon of its own, on real Spark: what is remembered and for how long, the windows after it, and the account."""

import pytest

from full_tables import full
from spark.small_job import Binding, event
from streamproof import _jvm
from streamproof.config import load
from streamproof.errors import PlanChanged
from streamproof.replay.bounded.run import run_bounded
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.rows.doors import SideDoors
from streamproof.runtime.start.plan import reads
from streamproof.stream.graph import build

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    once = events.deduplicate("id"{within})
    sums = once.window(sp.tumbling("30 seconds")).aggregate(n=F.count("*"))
    return sp.Outputs(kept=once, sums=sums, late=once.late)
"""
BOUND = Binding(sinks={"kept": "parquet", "sums": "parquet", "late": "json"})


def at(identity, milliseconds):
    """A row, exact to the millisecond."""
    return {**event(identity, 0), "ts": event(identity, 0)["ts"] + milliseconds}


def fed(small_job, within, *batches):
    job = small_job(JOB.format(within=within), BOUND)
    for rows in batches:
        job.feed(rows)
    return job


def accounts_of(result):
    return {one.query: one for one in result.accounts}


@pytest.mark.parametrize(
    ("within", "kept"),
    [
        ("", ["a", "a", "b", "c"]),  # 10 seconds, the lag
        (', within="5 seconds"', ["a", "a", "b", "c"]),
        *full(
            (', within="90 seconds"', ["a", "a", "b", "c"]),
            (', within="90001 milliseconds"', ["a", "b", "c"]),
            (', within="2 minutes"', ["a", "b", "c"]),
        ),
    ],
)
def test_r12_a_key_is_remembered_for_as_long_as_the_job_says(small_job, within, kept):
    # what the last batch takes for late, and what was forgotten before it, goes by the watermark of the batch before: 90
    job = fed(small_job, within, [event("a", 0)], [event("b", 100)], [event("c", 99)], [event("a", 101), event("b", 100)])

    found = accounts_of(job.run())["kept"]

    assert job.ids() == kept
    assert (found.adds_up, found.account.emitted, found.account.duplicate) == (True, len(kept), 5 - len(kept))


@pytest.mark.parametrize(("apart", "kept"), [(89_999, "ayz"), *full((90_000, "ayz"), (90_001, "aayz"))])
def test_r12_rows_of_a_key_that_lie_a_horizon_apart_are_one_and_a_tick_more_are_two(small_job, apart, kept):
    second = 10_000 + apart
    bound = second - 1  # the highest at which the second row is not late
    job = fed(
        small_job, ', within="90 seconds"', [at("a", 10_000)], [at("z", bound + 10_000)], [at("y", bound + 9)], [at("a", second)]
    )

    found = accounts_of(job.run())["kept"]

    assert "".join(job.ids()) == kept
    assert (found.adds_up, found.account.late, found.account.duplicate) == (True, 0, 4 - len(kept))


@pytest.mark.full
def test_r12_copies_with_one_event_time_never_pass_however_short_the_horizon_is(small_job):
    # the late bound of the first copy is 19, that of the second one 30
    job = fed(
        small_job,
        ', within="1 ms"',
        *([event(name, when)] for name, when in (("a", 20), ("z", 29), ("y", 40), ("a", 20), ("a", 20))),
    )

    found = accounts_of(job.run())["kept"]

    assert job.ids() == ["a", "y", "z"]
    assert (found.adds_up, found.account.duplicate, found.account.late) == (True, 1, 1)


@pytest.mark.parametrize("within", ["", ', within="1 second"', ', within="1 hour"'])
@pytest.mark.full
def test_a_window_behind_goes_by_the_delay_of_the_watermark(small_job, within):
    job = fed(small_job, within, [at("a", 0)], [at("b", 39_998)], [at("c", 39_999)])

    job.run()
    assert job.rows("sums") == [], "the window ends at 30, and the watermark is a millisecond before it"

    job.feed([at("d", 40_000)])
    found = accounts_of(job.run())["sums"]
    assert [row["n"] for row in job.rows("sums")] == [1]
    assert (found.adds_up, found.account.emitted, found.account.open_state) == (True, 1, 3)


@pytest.mark.parametrize("within", ["", ', within="1 second"', ', within="1 hour"'])
def test_behind_the_deduplication_the_event_time_bears_the_delay_of_the_watermark_again(small_job, spark, within):
    job = fed(small_job, within)
    bound = bind(load(job.folder))
    doors = SideDoors(_jvm.Doors(spark, str(job.folder / "checkpoint"), "run"), {})

    rows = build(bound.outputs.main["kept"], reads(bound.query("kept"), spark, doors, stream=True, trace=False), doors).rows

    assert rows.schema["ts"].metadata == {"spark.watermarkDelayMs": 10_000}


@pytest.mark.full
def test_r25_another_horizon_on_an_old_checkpoint_is_refused(small_job):
    job = fed(small_job, ', within="1 minute"', [event("a", 0)])
    job.run()

    for within, now in ((', within="2 minutes"', "2 minutes"), ("", "none")):
        job.text = JOB.format(within=within)
        job.write()
        assert f"deduplication within: {now} now, 1 minute before" in job.stopped(PlanChanged).message


def test_as_a_batch_all_rows_of_a_key_are_one(small_job, spark):
    job = fed(small_job, ', within="5 seconds"', [event("a", 0)], [event("b", 100)], [event("a", 101)])

    found = accounts_of(run_bounded(load(job.folder), spark=spark))["kept"]

    assert (found.adds_up, found.account.emitted, found.account.duplicate) == (True, 2, 1)
