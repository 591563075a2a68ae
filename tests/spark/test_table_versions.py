"""R32: the version of a table that was fixed for a batch: whether the job of today can use it, and whether its copy is whole."""

import pytest

from full_tables import full
from spark.small_job import dies, event
from spark.test_lookup import AS_OF, INNER, JOB, VALID, bound, pinned, prices, rates, shown, versions
from streamproof.errors import CheckpointError, TornCheckpoint

TWO_COLUMNS = JOB.format(more="", outputs=", unknown=found.unmatched").replace('"client"', '{"client": "client", "v": "level"}')


def two_levels(job):
    prices(job, {}, {"client": ["a", "a"], "level": [1.0, 2.0], "price": [1.5, 2.5]})


def two_rates(job):
    rates(job, [("a", 1.5, 0, 10), ("a", 2.5, 10, None)])


@pytest.mark.parametrize(
    ("text", "binding", "table"),
    [(TWO_COLUMNS, bound(), two_levels), *full((AS_OF, bound(VALID), two_rates))],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_r32_a_version_with_two_rows_for_a_key_as_the_job_asks_for_it_now_is_refused(small_job, text, binding, table):
    job = small_job(text, binding)
    table(job)
    job.feed([event("1", 0)])
    dies(job, "rename", "/manifests/0$")
    of_batch = pinned(job, 0)
    prices(job, {"a": 1.5})
    job.text, job.binding = INNER, bound()
    job.write()

    error = job.stopped(CheckpointError)

    assert f"Batch 0 was interrupted, and has used the version {of_batch} of [table.prices]" in error.message
    assert "2 rows for" in error.message
    assert not job.rows("kept")


def cut_short(job, version):
    """The copy of a version, as a power failure may leave it."""
    (file,) = (job.checkpoint() / "_streamproof/tables/prices" / version).glob("*.parquet")
    file.write_bytes(file.read_bytes()[:-20])
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def test_r32_a_copy_that_is_torn_is_written_again_where_the_table_still_holds_the_same(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.5})
    job.feed([event("1", 0)])
    dies(job, "rename", "/manifests/0$")
    cut_short(job, pinned(job, 0))
    job.feed([event("2", 1)])

    job.run()

    assert shown(job) == {"1": 1.5, "2": 1.5}
    assert versions(job) == [pinned(job, 0)]


def test_r32_a_copy_with_other_rows_than_its_id_says_is_written_again(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.5})
    job.feed([event("1", 0)])
    dies(job, "rename", "/manifests/0$")
    (copy,) = (job.checkpoint() / "_streamproof/tables/prices" / pinned(job, 0)).glob("*.parquet")
    prices(job, {"a": 9.5})
    copy.write_bytes((job.folder / "prices/all.parquet").read_bytes())
    copy.with_name(f".{copy.name}.crc").unlink(missing_ok=True)
    prices(job, {"a": 1.5})

    job.run()

    assert shown(job) == {"1": 1.5}


def test_r32_a_torn_copy_of_what_the_table_does_not_hold_any_more_is_said_to_be_gone(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.5})
    job.feed([event("1", 0)])
    dies(job, "rename", "/manifests/0$")
    cut_short(job, pinned(job, 0))
    prices(job, {"a": 2.5})

    error = job.stopped(TornCheckpoint)

    assert f"version {pinned(job, 0)} of [table.prices] is gone, which batch 0 has used" in error.message
    prices(job, {"a": 1.5})
    job.run()
    assert shown(job) == {"1": 1.5}
