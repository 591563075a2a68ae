"""Random jobs on Spark and in the twin, six in every run and twenty in the full tables; `make random-jobs SEEDS=500` runs more."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from full_tables import full
from random_jobs.__main__ import compared
from random_jobs.jobs import random_job

SEEDS = [*range(2), *full(*range(2, 20))]


@pytest.mark.parametrize("number", SEEDS)
def test_spark_and_the_twin_agree_on_a_random_job(spark: SparkSession, tmp_path: Path, number: int) -> None:
    found = compared(number, spark, tmp_path)

    assert not found, f"{random_job(number).described}\n" + "\n".join(found)
