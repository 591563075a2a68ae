"""Real services, started once for the tests that share them; where one cannot be had the tests skip, and fail where CI is set."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark.conftest import small_job, spark
from streamproof.errors import EnvironmentProblem, LabError, MissingExtra
from streamproof.lab import KafkaCluster, Postgres
from streamproof.lab.services import fetch, service, there

__all__ = ["kafka", "postgres", "small_job", "spark"]


def needs(*names: str) -> None:
    """Fetches what services need; skips the test where it cannot be had, with the reason."""
    for name in names:
        try:
            if not there(name):
                fetch(name)
        except (LabError, EnvironmentProblem, MissingExtra) as problem:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(str(problem).splitlines()[0])


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """One server for many tests; each works in tables of its own."""
    needs("postgres")
    with service("postgres", Path(tmp_path_factory.mktemp("lab"))) as running:
        yield running


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """One broker for many tests; each works with topics of its own."""
    needs("kafka")
    with KafkaCluster(Path(tmp_path_factory.mktemp("lab")) / "kafka") as running:
        yield running
