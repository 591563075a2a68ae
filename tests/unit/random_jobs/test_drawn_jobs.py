"""What random jobs are made of, without Spark: the same seed gives the same job, and enough seeds have everything in them."""

import ast

from random_jobs.jobs import RandomJob, random_job
from random_jobs.operators import WINDOWS
from random_jobs.sample import EVENTS_OF_FILE, FILES
from streamproof.stream import windows

JOBS = [random_job(number) for number in range(300)]


def has(job: RandomJob, *words: str) -> bool:
    return all(word in job.text for word in words)


def test_the_same_seed_gives_the_same_job() -> None:
    again = random_job(7)

    assert (again.described, again.events) == (JOBS[7].described, JOBS[7].events)


def test_every_job_is_python_and_every_event_is_read_at_some_start() -> None:
    for job in JOBS:
        ast.parse(job.text)
        assert sum(job.starts) == FILES == len(job.events.files)
        assert len(job.events.lines) == FILES * EVENTS_OF_FILE


def test_every_operator_is_drawn_with_every_kind_of_window() -> None:
    for call in (".require(", ".filter(", ".transform(", ".deduplicate(", "allowed_lateness=", "held"):
        for window in (f"sp.{add.__name__}(" for add in WINDOWS):
            assert any(has(job, call, window) for job in JOBS), (call, window)
    assert {add.__name__ for add in WINDOWS} | {"gap_of"} == {name for name in windows.__all__ if name.islower()}
    assert any(has(job, "offset=", "sp.hopping(") for job in JOBS)
    assert any(has(job, "sp.gap_of('idle'", "longest=") for job in JOBS)
    assert any(has(job, "sp.gap_of('v'", ".deduplicate(") for job in JOBS)
    assert any(has(job, "two=two") for job in JOBS)
    assert any(has(job, ".deduplicate(") and not has(job, ".window(") for job in JOBS)
    assert any(has(job, "within=", ".window(") for job in JOBS)
    for order in ("order_by='v', keep='first'", "order_by='ts', keep='last'", "order_by='id', keep='last'"):
        assert any(has(job, order) for job in JOBS), order
    assert any(has(job, ".duplicates", ".window(") for job in JOBS)
    assert any(has(job, "within=") and not has(job, ".window(") for job in JOBS)


def test_two_sources_are_put_together_with_every_kind_of_state() -> None:
    unions = [job for job in JOBS if has(job, ".union(others")]

    assert all((job.others is not None) == (job in unions or has(job, ".join(others")) for job in JOBS)
    for call in (
        ".require(",
        ".filter(",
        ".deduplicate(",
        "order_by=",
        "sp.hopping(",
        "sp.session(",
        "emit='corrections'",
        "accumulator(",
    ):
        assert any(has(job, call) for job in unions), call
    others = [job.others for job in unions if job.others is not None]
    assert {len(one.events.files) for one in others} == {1, 2, 3, FILES}
    assert {"idle_after" in one.event_time for one in others} == {True, False}
    assert any(trace.startswith("e-") for one in others for trace in one.events.rows), "copies of events in the other source"


def test_two_sources_are_joined_in_every_way() -> None:
    joins = [job for job in JOBS if has(job, ".join(others")]

    for call in (
        "how='inner'",
        "how='left'",
        "how='right'",
        "how='full'",
        ".unmatched_left",
        ".unmatched_right",
        "on=('client', 'kind')",
        "both",
    ):
        assert any(has(job, call) for job in joins), call
    assert any(job.bounded for job in joins)
    assert any(job.lost for job in joins)


def test_jobs_are_started_again_also_after_their_newest_commit_is_lost() -> None:
    assert sum(len(job.starts) > 1 for job in JOBS) > 150
    assert sum(bool(job.lost) for job in JOBS) > 75
    assert {job.files_per_batch for job in JOBS} == {1, 2, None}


def test_events_are_late_twice_there_torn_and_without_a_time() -> None:
    events = JOBS[0].events
    times = [row["ts"] for row in events.rows.values() if row is not None and row["ts"] is not None]

    assert times != sorted(times)
    assert any("+" in trace for trace in events.rows)
    assert any(row is None for job in JOBS[:20] for row in job.events.rows.values())
    assert any(row is not None and row["ts"] is None for job in JOBS[:20] for row in job.events.rows.values())


def test_keys_come_again_at_another_time_and_never_two_of_a_key_in_one_batch() -> None:
    again = 0
    for job in JOBS:
        times = [
            {(row["id"], row["ts"]) for trace in traces if (row := job.events.rows[trace]) is not None}
            for traces in job.events.traces.values()
        ]
        assert all(len({key for key, _ in of_file}) == len(of_file) for of_file in times)
        every = set().union(*times)
        again += len(every) > len({key for key, _ in every})
        assert job.files_per_batch == 1 or len(every) == len({key for key, _ in every})
    assert again > 75, "in a quarter of the jobs"
