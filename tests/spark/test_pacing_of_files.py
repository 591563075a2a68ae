"""What a batch reads of a folder is bounded, and adapted to how long batches take (S14); what it reads is fixed before its work (R2)."""

from dataclasses import replace

import pytest

from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.connectors.source import Limit
from streamproof.runtime.watching.events import BatchPlanned

LONG, SHORT = "1 hour", "1 millisecond"


def paced(small_job, batch_time: str, most: int | None = None) -> SmallJob:
    job = small_job(KEPT, Binding(files_per_batch=most))
    return with_time(job, batch_time)


def with_time(job: SmallJob, batch_time: str) -> SmallJob:
    job.binding = replace(job.binding, trigger=f'available-now"\nbatch_time = "{batch_time}')
    job.write()
    return job


def fed(job: SmallJob, files: int) -> None:
    for number in range(files):
        job.feed([event(f"e{job._files:03d}", number)])


def planned(job: SmallJob) -> list[BatchPlanned]:
    heard = []
    job.run(listener=heard.append)
    return [each for each in heard if isinstance(each, BatchPlanned) and each.files]


def test_batches_that_are_quick_grow_and_begin_small(small_job):
    job = paced(small_job, LONG)
    fed(job, 12)

    found = planned(job)

    assert [each.files for each in found] == [1, 2, 4, 5]
    assert [each.limits for each in found] == [(Limit("events", most, "files"),) for most in (1, 2, 4, 8)]
    assert len(job.ids()) == 12


def test_no_batch_takes_more_than_is_configured(small_job):
    job = paced(small_job, LONG, most=3)
    fed(job, 12)

    assert [each.files for each in planned(job)] == [1, 2, 3, 3, 3]


def test_batches_that_are_slow_get_small_and_stay_there_after_a_restart(small_job):
    job = paced(small_job, LONG)
    fed(job, 7)
    assert [each.files for each in planned(job)] == [1, 2, 4]

    with_time(job, SHORT)
    fed(job, 6)

    assert [each.files for each in planned(job)] == [4, 1, 1], "it begins with what the newest batch has taken"


def test_r2_a_batch_that_is_done_again_reads_what_was_planned_whatever_its_limit_would_be(small_job):
    job = paced(small_job, LONG)
    fed(job, 3)
    planned(job)
    job.lose("commits/1")

    with_time(job, SHORT)
    (again,) = planned(job)

    assert (again.batch, again.files, again.limits) == (1, 2, ())
    assert len(job.ids()) == 3


def test_a_limit_that_is_configured_is_said(small_job):
    job = small_job(KEPT, Binding(files_per_batch=2))
    fed(job, 3)

    found = planned(job)

    assert [(each.files, each.limits) for each in found] == [
        (2, (Limit("events", 2, "files"),)),
        (1, (Limit("events", 2, "files"),)),
    ]


@pytest.mark.parametrize("most", [None, 2])
def test_the_same_rows_whatever_the_pace(small_job, most):
    job = paced(small_job, SHORT, most=most)
    fed(job, 5)

    assert [each.files for each in planned(job)] == [1] * 5
    assert len(job.ids()) == 5
