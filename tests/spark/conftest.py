"""One warm Spark session for all tests of this folder, with the settings of proofs; and small jobs in folders of their own."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark.small_job import Binding, SmallJob
from streamproof.prove.process.engine import Engine


@pytest.fixture(scope="session")
def spark(connectors: Sequence[str]) -> SparkSession:
    """The session is left open: other test folders of the same process go on with it."""
    return Engine("tests", {}, jars=connectors).spark


@pytest.fixture
def small_job(spark: SparkSession, tmp_path: Path) -> Callable[..., SmallJob]:
    """Makes a job in a folder: `small_job(text, binding)`."""

    def make(text: str, binding: Binding | None = None, *, folder: str = "job") -> SmallJob:
        return SmallJob(spark, tmp_path / folder, text, binding or Binding())

    return make
