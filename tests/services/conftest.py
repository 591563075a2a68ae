"""Real services, started once for the tests that share them; where one cannot be had the tests skip, and fail where CI is set."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from pyspark import cloudpickle

from spark.conftest import small_job, spark
from streamproof.connectors.steps import Steps
from streamproof.core.phases import StepName
from streamproof.errors import EnvironmentProblem, LabError, MissingExtra
from streamproof.lab import KafkaCluster, Postgres
from streamproof.lab.services import fetch, service, there
from streamproof.runtime import run
from streamproof.runtime.query import Start

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
    with KafkaCluster(Path(tmp_path_factory.mktemp("lab")) / "kafka", users={"risk": "right"}) as running:
        yield running


@dataclass(frozen=True)
class Dying(Steps):
    """Fails at a step, in the task that takes it."""

    at: str

    def reached(self, step: StepName) -> None:
        if str(step) == self.at:
            raise OSError("the task dies here")


@pytest.fixture
def dying_tasks() -> Callable[[str], AbstractContextManager[None]]:
    """`with dying_tasks("publish/kept@0:before"):` the task that takes the step dies there."""

    @contextmanager
    def dying(at: str) -> Iterator[None]:
        this = sys.modules[__name__]
        cloudpickle.register_pickle_by_value(this)  # workers cannot import tests
        with pytest.MonkeyPatch.context() as broken:
            broken.setattr(run, "Start", partial(Start, steps=Dying(at)))
            yield
        cloudpickle.unregister_pickle_by_value(this)

    return dying
