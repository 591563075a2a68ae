"""Real services, started once for the tests that share them; where one cannot be had the tests skip, and fail where CI is set."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark import cloudpickle

from services.real_time_topics import short_batches, topics
from spark.conftest import small_job, spark
from spark.small_job import KEPT, Binding, SmallJob
from streamproof.connectors.sink import Sink
from streamproof.connectors.steps import Steps
from streamproof.core.ids import new_id, short
from streamproof.core.manifest import Manifest, Section
from streamproof.core.phases import StepName
from streamproof.errors import EnvironmentProblem, LabError, MissingExtra
from streamproof.lab import KafkaCluster, Postgres
from streamproof.lab.registry import Registry
from streamproof.lab.services import fetch, service, there
from streamproof.runtime import run
from streamproof.runtime.start.options import Start

Rows = Callable[..., list[tuple[Any, ...]]]
TABLE = "id text primary key, client text not null, v double precision, ts timestamptz"
__all__ = ["kafka", "postgres", "registry", "short_batches", "small_job", "spark", "topics"]


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


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """One registry for many tests; each works with subjects of its own."""
    needs("registry")
    with Registry(Path(tmp_path_factory.mktemp("lab")) / "registry") as running:
        yield running


@pytest.fixture
def answering() -> Iterator[Callable[[int], str]]:
    """`answering(500)`: the address of a stub that answers every question so."""
    running: list[ThreadingHTTPServer] = []

    def answering(status: int) -> str:
        class Stub(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"no")

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        running.append(ThreadingHTTPServer(("127.0.0.1", 0), Stub))
        threading.Thread(target=running[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{running[-1].server_port}"

    yield answering
    for stub in running:
        stub.shutdown()
        stub.server_close()


@pytest.fixture
def own_postgres(postgres: Postgres, tmp_path: Path) -> Iterator[Postgres]:
    """A server that a test may kill."""
    with Postgres(tmp_path / "own-postgres") as server:
        yield server


@pytest.fixture
def schema(postgres: Postgres) -> Iterator[str]:
    """A schema of its own, gone with the test."""
    name = f"t{short(new_id())}"
    with psycopg.connect(postgres.url) as connection:
        connection.execute(f"create schema {name}")
    yield name
    with psycopg.connect(postgres.url) as connection:
        connection.execute(f"drop schema {name} cascade")


@pytest.fixture
def rows(postgres: Postgres, schema: str) -> Rows:
    def rows(query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(postgres.url, options=f"-c search_path={schema}") as connection:
            found = connection.execute(query)
            return found.fetchall() if found.description else []

    return rows


@pytest.fixture
def job(small_job: Callable[..., SmallJob], postgres: Postgres, schema: str) -> Callable[..., SmallJob]:
    """`job(mode="upsert", ...)`: rows that pass go to the table `kept`, the others to files. Tests of other sinks have a job of their own."""

    def job(text: str = KEPT, output: str = "kept", folder: str = "job", **sink: Any) -> SmallJob:
        table = {"connector": "postgres", "url": postgres.url, "table": f"{schema}.{output}", **sink}
        return small_job(text, Binding(sinks={"rejected": "json"}, tables={f"sink.{output}": table}), folder=folder)

    return job


@dataclass(frozen=True)
class Dying(Steps):
    """Fails at a step, in the task that takes it."""

    at: str

    def reached(self, step: StepName) -> None:
        if str(step) == self.at:
            raise OSError("the task dies here")


@contextmanager
def told(steps: Steps) -> Iterator[None]:
    """Runs tell these steps, which are a test's own, also in their tasks."""
    written_in = sys.modules[type(steps).__module__]
    cloudpickle.register_pickle_by_value(written_in)  # workers cannot import tests
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "Start", partial(Start, steps=steps))
        try:
            yield
        finally:
            cloudpickle.unregister_pickle_by_value(written_in)


@contextmanager
def before_publication(of: type[Sink], batch: int, happens: Callable[[], object]) -> Iterator[None]:
    """Something happens on the driver, just before sinks of a class publish a batch."""
    publish = of.publish

    def behind(sink: Sink, manifest: Manifest, section: Section) -> None:
        if manifest.batch == batch:
            happens()
        publish(sink, manifest, section)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(of, "publish", behind)
        yield


@pytest.fixture
def dying_tasks() -> Callable[[str], AbstractContextManager[None]]:
    """`with dying_tasks("publish/kept@0:before"):` the task that takes the step dies there."""
    return lambda at: told(Dying(at))
