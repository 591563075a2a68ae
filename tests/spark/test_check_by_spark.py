"""`check --spark`: Spark analyses what `check` cannot see, and nothing is written."""

import pytest

from spark.small_job import SUMS, WINDOWED, Binding, event
from streamproof.config import load
from streamproof.errors import JobDefinitionError
from streamproof.runtime.checks.analysis import analysed

BY_SCHEMA = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    doubled = events.transform(lambda rows: rows.select("*", *[F.col(one.name).alias("b") for one in rows.schema if one.name == "v"]))
    return sp.Outputs(kept=doubled.require(b="{condition}"))
"""
"""A transform that asks for the schema of its rows: no name after it is known without Spark."""


def files(job):
    return sorted(str(one) for one in job.folder.rglob("*") if "__pycache__" not in str(one))


def test_every_plan_is_analysed_and_nothing_is_written(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    before = files(job)

    found = analysed(load(job.folder), spark=job.spark)

    assert found == {"sums": "client string, window_start timestamp, window_end timestamp, total double, n bigint"}
    assert files(job) == before


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("bb > 0", 'require() needs the column "bb", which is not there. Did you mean "b"?'),
        ("b", "require() cannot be planned: "),
    ],
)
def test_what_only_spark_can_see_is_found(small_job, condition, said):
    job = small_job(BY_SCHEMA.format(condition=condition), Binding(sinks={"kept": "parquet"}))

    found = analysed(load(job.folder), spark=job.spark)["kept"]

    assert isinstance(found, JobDefinitionError)
    assert said in found.message
